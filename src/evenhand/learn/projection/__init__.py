"""FairProjection: scores moved as little as possible until groups are treated alike."""
