import { NUMBER_FIELDS, PROSE_FIELDS, SHOWN_FIELDS } from '../../gateway/upstream/answers/fields';
import { VerdictEvidence } from '../../journal/settlement/settled-by-upstream';
import { Present } from '../../operations/lifecycle/lifecycle';
import { Client } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { DOTS, maskProse } from '../../platform/privacy/contacts';
import { asRecorded, WrittenNumbers } from '../../platform/privacy/recorded';
import { hasPayoutInDoubt, StoredCall } from './rows';

/** Permissions of a reader of records. */
export interface View {
  /** Whether people are unmasked (`audit:pii`, or the reader's own calls). */
  reveal: boolean;
  present: Present;
  clients: ReadonlyMap<string, ViewedClient>;
  /** The resolver's verdicts by call. */
  verdicts: ReadonlyMap<string, VerdictRow>;
  /** Whether to name other calls. False for the app that owns the call. */
  showsOthers: boolean;
  /** Whether the reader is one person. Calls of other people are then hidden. */
  ofPerson: boolean;
}

/** Returns the value, masked unless the reader may see it. Null if unset. */
export function shown(value: string, reveal: boolean, mask: Mask): string;
export function shown(value: string | null | undefined, reveal: boolean, mask: Mask): string | null;
export function shown(value: string | null | undefined, reveal: boolean, mask: Mask): string | null {
  return value === undefined || value === null || reveal ? (value ?? null) : mask(value);
}

/** Fields of a client in records. */
type ViewedClient = Pick<Client, 'name' | 'account'>;

/** Reads the recorded fields of these clients. */
export async function readClients(
  prisma: Pick<ReaderPrisma, 'client'>,
  ids: (string | null)[],
): Promise<Map<string, ViewedClient>> {
  const clients = await prisma.client.findMany({
    select: { id: true, name: true, account: true },
    where: { id: { in: [...new Set(ids.filter((id) => id !== null))] } },
  });
  return new Map(clients.map((client) => [client.id, client]));
}

/** Returns a client in the form of records. */
export function clientOf(
  id: string,
  { clients }: Pick<View, 'clients'>,
): { id: string; name: string | null } {
  return { id, name: clients.get(id)?.name ?? null };
}

type Mask = (value: string) => string;

/** The last verdict of the resolver about a call in doubt. */
export interface VerdictRow {
  verdict: string;
  reason: string;
  decidedAt: Date;
  evidence: VerdictEvidence;
}

/** Returns the newest verdict of each of these calls. Few calls were ever in doubt, so most have none. */
export async function newestVerdicts(
  prisma: ReaderPrisma,
  calls: StoredCall[],
): Promise<ReadonlyMap<string, VerdictRow>> {
  const ids = calls
    .filter((call) => call.outcome === null || call.outcome.kind === 'unknown' || hasPayoutInDoubt(call))
    .map(({ intent }) => intent.id);
  if (ids.length === 0) return new Map();
  const rows = await prisma.$queryRaw<(VerdictRow & { id: string })[]>`
    SELECT DISTINCT ON (intent_id) intent_id::text AS id, verdict, reason, decided_at AS "decidedAt", evidence
    FROM verdict WHERE intent_id = ANY (${ids}::uuid[]) ORDER BY intent_id, verdict.id DESC`;
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}

/** Free-form fields. Their members' names may be personal data, and known names have another meaning. */
const FREE_FORM = new Set(['meta']);

/**
 * Masks a body for readers without `audit:pii`. Keeps its shape, and the fields that identify no person.
 * @param numbers people's numbers in it (`writtenNumbers`), which a caller may use as a reference.
 */
export function maskBody(value: unknown, numbers?: WrittenNumbers, key = ''): unknown {
  // Lists of numbers contain no amounts.
  if (Array.isArray(value)) {
    return value.map((element) => maskBody(element, numbers, typeof element === 'number' ? '' : key));
  }
  if (typeof value === 'object' && value !== null) {
    if (FREE_FORM.has(key)) return DOTS;
    // Some callers write lists as maps, and contacts as their keys.
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [maskProse(name), maskBody(inner, numbers, name)]),
    );
  }
  if (typeof value === 'number') {
    const shown = SHOWN_FIELDS.has(key) || NUMBER_FIELDS.has(key);
    return shown && !numbers?.has(String(value)) ? value : DOTS;
  }
  if (typeof value !== 'string' || value === '') return value;
  if (PROSE_FIELDS.has(key)) return maskProse(value);
  return SHOWN_FIELDS.has(key) ? asRecorded(value, numbers) : DOTS;
}
