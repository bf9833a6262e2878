import { setImmediate as turn } from 'node:timers/promises';
import { Arrivals } from './arrivals';

/** Arrivals on a clock of the test. Each request takes some ms, and is named by its number. */
function arrivalsOf(requestMs: number) {
  const scene = { nowMs: 0, begun: [] as number[] };
  const arrivals = new Arrivals(() => scene.nowMs);
  const arrive = (count: number) => {
    const first = scene.begun.length;
    for (let number = first; number < first + count; number += 1) {
      arrivals.turn(() => {
        scene.nowMs += requestMs;
        scene.begun.push(number);
      });
    }
  };
  return { scene, arrive };
}

describe('the arrivals of a server', () => {
  it('begin in order, in the turn in which they arrive', async () => {
    const { scene, arrive } = arrivalsOf(0);
    arrive(3);
    expect(scene.begun).toEqual([]);
    await turn();
    expect(scene.begun).toEqual([0, 1, 2]);
    arrive(200);
    await turn();
    expect(scene.begun).toHaveLength(203);
  });

  it('leave a turn to others after 5 ms, and take the next one', async () => {
    const { scene, arrive } = arrivalsOf(2);
    arrive(20);
    await turn();
    expect(scene.begun).toEqual([0, 1, 2]);
    await turn();
    expect(scene.begun).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('take about half of a turn in which others took longer', async () => {
    const { scene, arrive } = arrivalsOf(2);
    arrive(40);
    await turn();
    scene.nowMs += 30; // answers of the database and the upstream
    await turn();
    expect(scene.begun).toHaveLength(3 + 26); // they waited 36 ms, so 30 ms and two thirds more
    await turn();
    expect(scene.begun).toHaveLength(3 + 26 + 3);
  });

  it('take more of each turn the longer the oldest has waited, up to four fifths', async () => {
    const { scene, arrive } = arrivalsOf(1);
    arrive(1_000);
    await turn();
    const slices = [];
    for (let others = 0; others < 8; others += 1) {
      const before = scene.begun.length;
      scene.nowMs += 20;
      await turn();
      slices.push(scene.begun.length - before);
    }
    expect(slices).toEqual([30, 50, 78, 80, 80, 80, 80, 80]);
  });

  it('begin only a thousand in one turn, and all in the end', async () => {
    const { scene, arrive } = arrivalsOf(0);
    arrive(4_000);
    await turn();
    expect(scene.begun).toHaveLength(1_024);
    for (let turns = 0; turns < 3; turns += 1) await turn();
    expect(scene.begun).toEqual(Array.from({ length: 4_000 }, (_none, number) => number));
  });

  it('count the time of the promises of a request as its own', async () => {
    const scene = { nowMs: 0, begun: 0 };
    const arrivals = new Arrivals(() => scene.nowMs);
    for (let count = 0; count < 10; count += 1) {
      arrivals.turn(() => void Promise.resolve().then(() => ((scene.nowMs += 3), (scene.begun += 1))));
    }
    await turn();
    expect(scene.begun).toBe(2);
  });
});
