import { beneficiaryHash } from '../access/clients/beneficiary';
import { Item } from '../operations/item';
import { itemFieldsOf } from '../operations/items';
import { RecipientName, recipientNames } from '../operations/recipient-names';
import { movesValue, OperationName } from '../operations/catalogue';
import { Prisma } from '../platform/database/generated/client';
import { AdmissionRequest } from '../policy/admission';
import { NamedRecipient, Register, RegisterRules, Registration, usesRegister } from '../policy/beneficiaries';

/**
 * Returns the recipients of the items of a call. An operation that pays somebody names one for each item, even if the item
 * does not say whom. Others name none.
 */
export function recipientsOf(clientId: string, operation: OperationName, items: Item[]): NamedRecipient[] {
  const { recipient = 'nobody' } = itemFieldsOf(operation) ?? {};
  const isPaid = movesValue(operation);
  if (recipient === 'nobody' && !isPaid) return [];
  const hashOf = ({ key }: RecipientName) => beneficiaryHash(clientId, key).toString('hex');
  return items.map((item, position) => {
    const names = recipientNames(item);
    const paidBy = names.find(({ counts }) => counts);
    return {
      position,
      field: item.recipientField,
      paidBy: paidBy ? hashOf(paidBy) : null,
      names: names.map(hashOf),
      isPaid,
    };
  });
}

/**
 * Reads the entries of these requests' recipients. It holds only while the clients are locked. Registers that no client uses
 * cost nothing.
 * @param rules by client ID.
 */
export async function readRegister(
  tx: Pick<Prisma.TransactionClient, '$queryRaw'>,
  requests: Pick<AdmissionRequest, 'clientId' | 'recipients'>[],
  rules: ReadonlyMap<string, RegisterRules>,
): Promise<Register> {
  const names = requests.flatMap(({ clientId, recipients }) => {
    const used = rules.get(clientId);
    return used && usesRegister(used) ? (recipients ?? []).flatMap(({ names: all }) => all) : [];
  });
  if (names.length === 0) return new Register();
  const entries = await tx.$queryRaw<Registration[]>`
    SELECT encode(b.recipient, 'hex') AS recipient, b.list,
      extract(epoch FROM clock_timestamp() - b.registered_at)::float AS "ageSeconds"
    FROM (SELECT DISTINCT decode(name, 'hex') AS recipient FROM unnest(${names}::text[]) AS name) AS named
    JOIN beneficiary b ON b.recipient = named.recipient`;
  return new Register(entries);
}
