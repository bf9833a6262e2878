import { Limits } from '../../access/clients/limits/limits';
import { RegisterList } from '../../access/clients/register-lists';
import { RecipientKind } from '../../recipients/recipient';

/** The recipient of an item. Equal recipients of one client have equal keys, which do not reveal them. */
export interface NamedRecipient {
  /** Position of its item. */
  position: number;
  /** The field that names it. Null without one. */
  field: RecipientKind | null;
  /** Key of the name that the upstream pays by. Null if unknown. */
  paidBy: string | null;
  /** Keys of all its names. */
  names: string[];
  /** Whether the call pays it. A link, for example, is paid later by another payer. */
  isPaid: boolean;
}

/** A client's use of its register. */
export interface RegisterRules extends Pick<Limits, 'beneficiariesOnly' | 'beneficiaryCoolOffSeconds'> {
  /** Whether it has blocked recipients. */
  blocksRecipients: boolean;
}

/** Returns whether a client's requests are checked against its register. */
export function usesRegister({
  beneficiariesOnly,
  blocksRecipients,
}: Pick<RegisterRules, 'beneficiariesOnly' | 'blocksRecipients'>): boolean {
  return beneficiariesOnly || blocksRecipients;
}

/** An entry of a register. */
export interface Registration {
  list: RegisterList;
  /** Key of the recipient. */
  recipient: string;
  /** Seconds since its registration. */
  ageSeconds: number;
}

/** The recipients that a client may not pay. */
export interface ForbiddenRecipients {
  blocked: NamedRecipient[];
  unregistered: NamedRecipient[];
}

/** The register entries that requests name. */
export class Register {
  private readonly blocked: ReadonlySet<string>;
  private readonly ages: ReadonlyMap<string, number>;

  constructor(entries: Registration[] = []) {
    const of = (wanted: RegisterList) => entries.filter(({ list }) => list === wanted);
    this.blocked = new Set(of('blocked').map(({ recipient }) => recipient));
    this.ages = new Map(of('allowed').map(({ recipient, ageSeconds }) => [recipient, ageSeconds]));
  }

  /**
   * Returns the recipients that a client may not pay. Any name of a recipient can be blocked. Only the name
   * that the upstream pays by can be registered. Undefined if the client may pay all.
   */
  forbidden(
    recipients: NamedRecipient[],
    { beneficiariesOnly }: RegisterRules,
  ): ForbiddenRecipients | undefined {
    const blocked = recipients.filter(({ names }) => names.some((name) => this.blocked.has(name)));
    const unregistered = beneficiariesOnly
      ? recipients.filter((one) => !blocked.includes(one) && this.ageOf(one) === undefined)
      : [];
    return blocked.length + unregistered.length > 0 ? { blocked, unregistered } : undefined;
  }

  /** Returns whether one of these recipients was registered too recently to be paid without an approval. */
  hasNew(
    recipients: NamedRecipient[],
    { beneficiariesOnly, beneficiaryCoolOffSeconds }: RegisterRules,
  ): boolean {
    if (!beneficiariesOnly || beneficiaryCoolOffSeconds === null) return false;
    return recipients.some((one) => one.isPaid && (this.ageOf(one) ?? 0) < beneficiaryCoolOffSeconds);
  }

  private ageOf({ paidBy }: NamedRecipient): number | undefined {
    return paidBy === null ? undefined : this.ages.get(paidBy);
  }
}
