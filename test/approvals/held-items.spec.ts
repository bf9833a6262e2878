import fc from 'fast-check';
import { itemsOfRecord } from '../../src/gateway/waiting/recorded-items';
import { recipientsOf } from '../../src/journal/admission/recipients';
import { IntentDocument, writeIntent } from '../../src/journal/records/documents';
import { runs } from '../support/examples/runs';
import { anyIntent } from '../support/records/any-records';

const NO_CONTACT = { email: null, phone: null, handle: null };

/** Names of sub-accounts in requests. Contacts are masked in records. */
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
      fc.property(anyIntent, operation, receivers, (any, name, texts) => {
        // An item has either a sub-account or contacts.
        const items = any.items.map((item, index) =>
          item.receiver === null
            ? item
            : { ...item, ...NO_CONTACT, recipientField: 'receiver' as const, receiver: texts[index] ?? '' },
        );
        const { record, people } = writeIntent({ ...any, operation: name, items });
        const { clientId } = any.caller;
        const recorded = recipientsOf(
          clientId,
          name,
          itemsOfRecord(JSON.parse(record) as IntentDocument, people),
        );
        expect(recorded).toEqual(recipientsOf(clientId, name, items));
      }),
      { numRuns: runs(300) },
    );
  });
});
