import fc from 'fast-check';
import { itemsOfRecord } from '../../src/admin/approvals/held-items';
import { recipientsOf } from '../../src/journal/admission/recipients';
import { writeIntent } from '../../src/journal/records/documents';
import { runs } from '../support/examples/runs';
import { anyIntent } from '../support/records/any-records';

const NOBODY = { email: null, phone: null, handle: null };

/** What a caller may name a sub-account by. Contacts are masked in records. */
const RECEIVERS = ['user-17', '+254712345678', 'ada@example.com', '@ada', ''];

describe('the recorded items of a held call', () => {
  it('name the same recipients for the register as the request', () => {
    const operation = fc.constantFrom(
      'POST /payouts/credit',
      'POST /account/transfer',
      'POST /wallets/transfer',
    );
    const receivers = fc.array(fc.constantFrom(...RECEIVERS), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(anyIntent, operation, receivers, (any, name, named) => {
        // No operation has a sub-account beside a contact.
        const items = any.items.map((item, place) =>
          item.receiver === null
            ? item
            : { ...item, ...NOBODY, recipientField: 'receiver' as const, receiver: named[place] ?? '' },
        );
        const { record, people } = writeIntent({ ...any, operation: name, items });
        const { clientId } = any.caller;
        const recorded = recipientsOf(clientId, name, itemsOfRecord(record, people));
        expect(recorded).toEqual(recipientsOf(clientId, name, items));
      }),
      { numRuns: runs(300) },
    );
  });
});
