import { Caller } from '../../access/callers/caller';
import { readRegister, recipientsOf } from '../../journal/beneficiaries';
import { OperationName } from '../../operations/catalogue';
import { Item } from '../../operations/item';
import { RegisterRules } from '../../policy/beneficiaries';
import { SidePrisma } from '../../platform/database/side-prisma';
import { BrokenRule } from '../../gateway/may-pay/obstacles';

/** A held call whose recipients are compared with the register of its client. */
interface HeldPayment {
  id: string;
  operation: OperationName;
  caller: Caller;
  items: Item[];
}

/** Finds the held calls that pay somebody whom their client may not pay now, by call ID. */
export async function readForbidden(prisma: SidePrisma, held: HeldPayment[]): Promise<Map<string, BrokenRule>> {
  const rules = new Map(held.map(({ caller }) => [caller.clientId, rulesOf(caller)]));
  const named = held.map(({ id, operation, caller: { clientId }, items }) => ({
    id,
    operation,
    clientId,
    recipients: recipientsOf(clientId, operation, items),
  }));
  const register = await readRegister(prisma, named, rules);
  return new Map(
    named.flatMap(({ id, clientId, recipients }) => {
      const own = rules.get(clientId);
      const forbidden = own && register.forbidden(recipients, own);
      return forbidden ? [[id, { kind: 'recipient_not_allowed' as const, ...forbidden }] as const] : [];
    }),
  );
}

function rulesOf({ limits, blocksRecipients }: Caller): RegisterRules {
  const { beneficiariesOnly, beneficiaryCoolOffSeconds } = limits;
  return { beneficiariesOnly, beneficiaryCoolOffSeconds, blocksRecipients };
}
