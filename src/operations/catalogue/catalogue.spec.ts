import { CHANGED_BY, CHANGING_OPERATIONS, CREATED_BY, leavesNoTransaction } from '../items/effects';
import { itemFieldsOf, itemsOf } from '../items/items';
import { methodOf, OPERATION_NAMES, OPERATIONS, rowOf } from './catalogue';

describe('the catalogue', () => {
  it('describes the transactions of every operation that changes something', () => {
    const [created, changed] = [[...CREATED_BY.keys()], [...CHANGED_BY.keys()]];
    const unlisted = CHANGING_OPERATIONS.filter(leavesNoTransaction);
    expect([...created, ...changed, ...unlisted].sort()).toEqual([...CHANGING_OPERATIONS].sort());
  });

  it('has no payment without a trace in the listing', () => {
    const paying = OPERATION_NAMES.filter((name) => rowOf(name).effect === 'pay');
    expect(paying.filter((name) => !CREATED_BY.has(name))).toEqual([]);
  });

  it('names the same type and class for every kind of transaction', () => {
    const kinds = new Map([...CREATED_BY.values()].map((kind) => [kind.name, kind]));
    for (const kind of CREATED_BY.values()) expect(kind).toEqual(kinds.get(kind.name));
  });

  it('pays at once exactly if value leaves a wallet', () => {
    for (const [name, { paidAtOnce }] of CREATED_BY) {
      expect([name, OPERATIONS[name as keyof typeof OPERATIONS].effect]).toEqual([
        name,
        paidAtOnce ? 'pay' : 'write',
      ]);
    }
  });

  it('has a field for every recipient', () => {
    for (const name of OPERATION_NAMES) {
      const { recipient = 'nobody', fields = {} } = itemFieldsOf(name) ?? {};
      if (recipient !== 'nobody') expect(Object.keys(fields)).toEqual(expect.arrayContaining([...recipient]));
    }
  });

  it('sends a body only with POST', () => {
    for (const name of OPERATION_NAMES)
      if (methodOf(name) === 'GET') expect(rowOf(name).input).not.toBe('body');
  });

  it('has an example of one item, with its recipient and its amount', () => {
    for (const name of OPERATION_NAMES) {
      const items = itemsOf(name, rowOf(name).example);
      const { recipient = 'nobody' } = itemFieldsOf(name) ?? {};
      expect([name, items.length]).toEqual([name, itemFieldsOf(name) ? 1 : 0]);
      expect([name, items.some(({ recipientField }) => recipientField !== null)]).toEqual([
        name,
        recipient !== 'nobody',
      ]);
      if (rowOf(name).effect === 'pay') expect(items[0]?.amountUsd?.isPositive()).toBe(true);
    }
  });
});
