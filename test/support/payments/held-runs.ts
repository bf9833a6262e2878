import { Execution } from '../../../src/reconciliation/runs/execution';

/** Holds new runs of this process until they are released. Stopping a run also stops a held one. */
export function holdRuns(): () => void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
  const original = Execution.prototype.carryOut;
  let letGo: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  jest.spyOn(Execution.prototype, 'carryOut').mockImplementation(async function (this: Execution, ...given) {
    const [, , signal] = given;
    const stopped = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(new Error('stopped'))),
    );
    await Promise.race([gate, stopped]);
    return original.apply(this, given);
  });
  return letGo;
}
