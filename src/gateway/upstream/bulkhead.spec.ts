import { Answer, notSent, toAnswer } from './answer';
import { Bulkhead } from './bulkhead';

const DONE = toAnswer({ failure: 'reset', written: true }, { effect: 'pay' });
const LONG = 60_000;
const MAY = () => Promise.resolve(undefined);

describe('Bulkhead', () => {
  it('lets requests go ahead that wait behind one that gave up', async () => {
    const bulkhead = new Bulkhead(1, 2);
    let finish = (_answer: Answer): void => undefined;
    const first = bulkhead.run(LONG, MAY, () => new Promise((resolve) => (finish = resolve)));
    const begun = jest.fn(() => Promise.resolve(DONE));
    const impatient = bulkhead.run(1, MAY, begun);
    const patient = bulkhead.run(LONG, MAY, () => Promise.resolve(DONE));
    expect(bulkhead.waiting).toBe(2);
    expect(await impatient).toEqual(notSent('overloaded'));
    finish(DONE);
    expect(await first).toBe(DONE);
    expect(await patient).toBe(DONE);
    expect(begun).not.toHaveBeenCalled();
    expect(bulkhead.waiting).toBe(0);
  });

  it('checks only requests that had to wait', async () => {
    const bulkhead = new Bulkhead(1, 2);
    const asked = jest.fn(() => Promise.resolve(notSent('stopped')));
    const begun = jest.fn(() => Promise.resolve(DONE));
    let finish = (_answer: Answer): void => undefined;
    const first = bulkhead.run(LONG, asked, () => new Promise((resolve) => (finish = resolve)));
    const second = bulkhead.run(LONG, asked, begun);
    expect(asked).not.toHaveBeenCalled();
    finish(DONE);
    expect(await first).toBe(DONE);
    expect(await second).toEqual(notSent('stopped'));
    expect(asked).toHaveBeenCalledTimes(1);
    expect(begun).not.toHaveBeenCalled();
  });

  it('does not start a request that gave up during the check', async () => {
    const bulkhead = new Bulkhead(1, 2);
    let allow = (_nothing: undefined): void => undefined;
    const asked = () => new Promise<undefined>((resolve) => (allow = resolve));
    let finish = (_answer: Answer): void => undefined;
    const first = bulkhead.run(LONG, MAY, () => new Promise((resolve) => (finish = resolve)));
    const begun = jest.fn(() => Promise.resolve(DONE));
    const impatient = bulkhead.run(1, asked, begun);
    finish(DONE);
    await first;
    expect(await impatient).toEqual(notSent('overloaded'));
    allow(undefined);
    expect(await bulkhead.run(LONG, MAY, () => Promise.resolve(DONE))).toBe(DONE); // its place is free again
    expect(begun).not.toHaveBeenCalled();
  });

  it('rejects requests if the queue is full', async () => {
    const bulkhead = new Bulkhead(1, 0);
    let finish = (_answer: Answer): void => undefined;
    const first = bulkhead.run(LONG, MAY, () => new Promise((resolve) => (finish = resolve)));
    expect(await bulkhead.run(LONG, MAY, () => Promise.resolve(DONE))).toEqual(notSent('overloaded'));
    finish(DONE);
    await first;
    expect(await bulkhead.run(LONG, MAY, () => Promise.resolve(DONE))).toBe(DONE);
  });
});
