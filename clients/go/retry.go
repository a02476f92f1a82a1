package postrider

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"
)

// backoff is the pause before each repetition after a network failure or a 5xx;
// the last one stands for all that follow.
var backoff = [...]time.Duration{250 * time.Millisecond, time.Second, 4 * time.Second}

// jitterShare is how much of a pause may be added to it at random, so that many
// clients do not come back at the same moment.
const jitterShare = 0.2

// pauseBefore says how long to wait before repetition number retry (from 0), and
// whether what happened is worth repeating at all.
func pauseBefore(retry int, a *answer, randomness float64) (time.Duration, bool) {
	if a != nil && a.status == 429 {
		if wait, ok := a.retryAfter(); ok {
			return wait, true
		}
	} else if a != nil && a.status < 500 {
		return 0, false
	}
	if retry >= len(backoff) {
		retry = len(backoff) - 1
	}
	pause := backoff[retry]
	return pause + time.Duration(float64(pause)*jitterShare*randomness), true
}

// randomFraction is at least 0 and below 1. crypto/rand, because math/rand gives
// every process the same numbers before Go 1.20.
func randomFraction() float64 {
	var bytes [4]byte
	if _, err := rand.Read(bytes[:]); err != nil {
		return 0
	}
	return float64(binary.BigEndian.Uint32(bytes[:])) / (1 << 32)
}

// sleep waits, or returns the context's error when that ends first.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endsBefore tells whether the context's time is up before a pause is over.
func endsBefore(ctx context.Context, pause time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) < pause
}
