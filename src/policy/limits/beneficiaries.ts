import { RegisterList } from '../../access/clients/register-writes';
import { RecipientKind } from '../../recipients/recipient';
import { Limits } from '../../access/clients/limits/limits';

/** The recipient that an item names. Equal recipients of one client have equal keys, which do not reveal them. */
export interface NamedRecipient {
  /** The position of its item. */
  position: number;
  /** The field that names it. Null if none does. */
  field: RecipientKind | null;
  /** The key of the name that the upstream pays by. Null if it is unknown. */
  paidBy: string | null;
  /** The keys of all its names. */
  names: string[];
  /** Whether the call pays it. A link, for example, is paid later and by somebody else. */
  isPaid: boolean;
}

/** How a client uses its register. */
export interface RegisterRules extends Pick<Limits, 'beneficiariesOnly' | 'beneficiaryCoolOffSeconds'> {
  /** Whether it has blocked recipients. */
  blocksRecipients: boolean;
}

/** Returns whether the recipients of a client's requests are compared with its register. */
export function usesRegister({
  beneficiariesOnly,
  blocksRecipients,
}: Pick<RegisterRules, 'beneficiariesOnly' | 'blocksRecipients'>): boolean {
  return beneficiariesOnly || blocksRecipients;
}

/** An entry of a register. */
export interface Registration {
  list: RegisterList;
  /** The key of the recipient. */
  recipient: string;
  /** How long ago it was registered. */
  ageSeconds: number;
}

/** Recipients that a client may not pay. */
export interface Forbidden {
  blocked: NamedRecipient[];
  unregistered: NamedRecipient[];
}

/** The entries of the registers that requests name. */
export class Register {
  private readonly blocked: ReadonlySet<string>;
  private readonly ages: ReadonlyMap<string, number>;

  constructor(entries: Registration[] = []) {
    const of = (wanted: RegisterList) => entries.filter(({ list }) => list === wanted);
    this.blocked = new Set(of('blocked').map(({ recipient }) => recipient));
    this.ages = new Map(of('allowed').map(({ recipient, ageSeconds }) => [recipient, ageSeconds]));
  }

  /**
   * Returns the recipients that a client may not pay. A recipient is blocked by any of its names, and registered by the name
   * that the upstream pays by. Undefined if there are none.
   */
  forbidden(recipients: NamedRecipient[], { beneficiariesOnly }: RegisterRules): Forbidden | undefined {
    const blocked = recipients.filter(({ names }) => names.some((name) => this.blocked.has(name)));
    const unregistered = beneficiariesOnly
      ? recipients.filter((one) => !blocked.includes(one) && this.ageOf(one) === undefined)
      : [];
    return blocked.length + unregistered.length > 0 ? { blocked, unregistered } : undefined;
  }

  /** Returns whether one of these recipients was registered too recently to be paid without an approval. */
  hasNew(recipients: NamedRecipient[], { beneficiariesOnly, beneficiaryCoolOffSeconds }: RegisterRules): boolean {
    if (!beneficiariesOnly || beneficiaryCoolOffSeconds === null) return false;
    return recipients.some((one) => one.isPaid && (this.ageOf(one) ?? 0) < beneficiaryCoolOffSeconds);
  }

  private ageOf({ paidBy }: NamedRecipient): number | undefined {
    return paidBy === null ? undefined : this.ages.get(paidBy);
  }
}
