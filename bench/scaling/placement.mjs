/** Placement of clients by the hash of their names. A reverse proxy has the name in the key. */
import { createHash } from 'node:crypto';

/**
 * Returns one of `count` places by rendezvous hashing: each place gets a score for the name, and the highest
 * wins. If a place is added, only the names move that it wins, one in `count + 1`. Nothing is balanced by
 * load.
 */
export function placeOf(name, count) {
  let [best, highest] = [0, -1];
  for (let place = 0; place < count; place += 1) {
    const score = createHash('sha256').update(`${place} ${name}`).digest().readUIntBE(0, 6);
    if (score > highest) [best, highest] = [place, score];
  }
  return best;
}
