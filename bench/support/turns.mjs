/** Shows the current turn of a benchmark, and the time left, on stderr. */
import { performance } from 'node:perf_hooks';

const LINE_EVERY_MS = 15_000;

/** @param total how many turns there will be. */
export function startTurns(total) {
  const { isTTY } = process.stderr;
  let [begun, firstAt, shownAt] = [0, 0, -Infinity];
  const show = (text) => {
    const now = performance.now();
    if (isTTY) process.stderr.write(`\r\x1b[K${text}`);
    else if (now - shownAt >= LINE_EVERY_MS) process.stderr.write(`${text}\n`);
    else return;
    shownAt = now;
  };
  return {
    show,
    /** Begins the next turn. */
    begin: (text) => {
      const now = performance.now();
      if (begun === 0) firstAt = now;
      const left = begun === 0 ? '' : `, about ${inWords(((now - firstAt) / begun) * (total - begun))} left`;
      begun += 1;
      show(`${text} (turn ${begun} of ${total}${left})`);
    },
    /** Prints a result to stdout. */
    print: (text) => {
      if (isTTY) process.stderr.write('\r\x1b[K');
      process.stdout.write(`${text}\n`);
    },
  };
}

function inWords(ms) {
  const minutes = ms / 60_000;
  return minutes < 1 ? 'a minute' : `${Math.ceil(minutes)} minutes`;
}
