"""What axe-core and a phone say about a page."""

SEVERE = {"serious", "critical"}
_WIDER = """
() => {
  const width = document.documentElement.clientWidth;
  const wide = [];
  if (document.documentElement.scrollWidth > width) {
    for (const element of document.querySelectorAll('body *')) {
      const box = element.getBoundingClientRect();
      if (box.width && box.right > width + 1) {
        wide.push(element.tagName + '.' + element.className + ' ' + Math.round(box.right));
      }
    }
    wide.push('scrolls to ' + document.documentElement.scrollWidth);
  }
  return wide.slice(-8);
}
"""
_MOVING = """
() => {
  const motions = document.getAnimations().filter((motion) => motion.playState === 'running'
    && motion.effect.getComputedTiming().duration > 1);
  const names = motions.map((motion) => motion.animationName || motion.transitionProperty || 'motion');
  const scrolling = getComputedStyle(document.documentElement).scrollBehavior;
  return scrolling === 'auto' ? names : [...names, 'scrolls smoothly'];
}
"""


def severe_findings(page):
    """Return what axe-core finds serious or critical on a page, each with the elements concerned."""
    from axe_playwright_python.sync_playwright import Axe  # an extra: whoever runs other tests lacks it

    violations = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: " + "; ".join(node["html"][:160] for node in violation["nodes"][:4])
        for violation in violations
        if violation["impact"] in SEVERE
    ]


def parts_wider_than_the_screen(page):
    """Return what makes a page scroll sideways; empty if nothing does."""
    return page.evaluate(_WIDER)


def parts_that_move(page):
    """Return the motions that run on a page now; empty if nothing moves."""
    return page.evaluate(_MOVING)
