import { OPERATIONS, OperationName } from '../../forwarding/operations';
import { COLLECTIONS, COMPARED, LINKS, NOT_COMPARED, PAYOUTS, TRANSFERS } from './operations';

describe('the operations that are compared', () => {
  it('are all that pay, and those that make what is paid', () => {
    const paying = Object.entries(OPERATIONS).filter(([, { effect }]) => effect === 'pay');
    expect([...PAYOUTS, ...TRANSFERS].sort()).toEqual(paying.map(([name]) => name).sort());
    const unknown = COMPARED.filter((name) => !Object.hasOwn(OPERATIONS, name));
    expect(unknown).toEqual([]);
    const effects = [...LINKS, ...COLLECTIONS].map((name: OperationName) => OPERATIONS[name].effect);
    expect(new Set(effects)).toEqual(new Set(['write']));
  });

  it('are, with those that are not compared, all that can be in doubt', () => {
    const changing = Object.entries(OPERATIONS).filter(([, { effect }]) => effect !== 'read');
    expect([...COMPARED, ...NOT_COMPARED].sort()).toEqual(changing.map(([name]) => name).sort());
  });
});
