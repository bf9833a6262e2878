import { Injectable } from '@nestjs/common';
import { Prisma } from '../database/generated/client';
import { PrismaService } from '../database/prisma.service';
import { uuidFloor } from '../database/uuid';
import { Present } from './outcome';
import { idBefore, Page, rowsToRead, toPage } from './page';
import { PresentService } from './present.service';
import { CallSearch } from './search.dto';

/**
 * An intent whose commit was reported as failed, but was not, was refused and never sent: its refusal says so, and there
 * is nothing to doubt.
 */
const NOT_REFUSED = Prisma.sql`(o.intent_id IS NOT NULL OR NOT EXISTS (SELECT FROM refusal WHERE refusal.id = i.id))`;

/** Lets an index find what may have a word that follows from several records. */
const CANDIDATES: Partial<Record<string, Prisma.Sql>> = {
  unknown: Prisma.sql`(o.kind = 'unknown' OR o.intent_id IS NULL)`,
  inProgress: Prisma.sql`o.intent_id IS NULL`,
  landed: Prisma.sql`i.id IN (SELECT intent_id FROM resolution)`,
  absent: Prisma.sql`i.id IN (SELECT intent_id FROM resolution)`,
  pendingApproval: Prisma.sql`i.held_for IS NOT NULL`,
  declined: Prisma.sql`i.held_for IS NOT NULL`,
  expired: Prisma.sql`i.held_for IS NOT NULL`,
};

/** Finds calls by their ids, newest first; what each holds, records.service.ts reads. */
@Injectable()
export class SearchService {
  constructor(
    private readonly prisma: PrismaService,
    private readonly present: PresentService,
  ) {}

  /** @param clientId finds only calls of this client. */
  async search(search: CallSearch, clientId?: string): Promise<Page<{ id: string }>> {
    const limit = rowsToRead(search);
    const present = await this.present.read();
    const rows = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT id::text FROM (
        (SELECT i.id FROM intent i
         LEFT JOIN outcome o ON o.intent_id = i.id
         LEFT JOIN decision d ON d.intent_id = i.id
         LEFT JOIN resolution s ON s.intent_id = i.id
         WHERE ${intentFilters(search, clientId, present)} ORDER BY i.id DESC LIMIT ${limit})
        UNION
        (SELECT r.id FROM refusal r
         WHERE ${refusalFilters(search, clientId)} ORDER BY r.id DESC LIMIT ${limit})
      ) AS calls ORDER BY calls.id DESC LIMIT ${limit}`;
    return toPage(rows, search);
  }
}

function intentFilters(search: CallSearch, clientId: string | undefined, present: Present): Prisma.Sql {
  const { outcome, recipient, reference, upstream_ref: ref } = search;
  return Prisma.join(
    [
      ...common(search, clientId, Prisma.sql`i`),
      ...(outcome === undefined ? [] : [outcomeFilter(outcome, present)]),
      ...(recipient === undefined ? [] : [recipientFilter(recipient)]),
      ...(reference === undefined
        ? []
        : [Prisma.sql`i.id IN (SELECT intent_id FROM intent_item WHERE reference = ${reference} AND reference <> '')`]),
      ...(ref === undefined ? [] : [upstreamRefFilter(ref)]),
    ],
    ' AND ',
  );
}

/** outcomeOf (outcome.ts), line by line. */
function outcomeFilter(word: string, { now, live, givenUpBefore }: Present): Prisma.Sql {
  if (word === 'refused') return Prisma.sql`FALSE`;
  const candidates = CANDIDATES[word];
  if (!candidates) return Prisma.sql`o.kind = ${word}`;
  return Prisma.sql`${candidates} AND ${NOT_REFUSED} AND ${word} = CASE
    WHEN o.kind <> 'unknown' THEN o.kind
    WHEN s.intent_id IS NOT NULL THEN s.verdict
    WHEN o.intent_id IS NOT NULL THEN 'unknown'
    WHEN i.held_for IS NOT NULL AND d.verdict IS DISTINCT FROM 'approved' THEN CASE
      WHEN d.intent_id IS NOT NULL THEN 'declined'
      WHEN i.expires_at < ${now}::timestamptz THEN 'expired'
      ELSE 'pendingApproval' END
    WHEN (coalesce(d.process, i.process) IS NOT NULL AND coalesce(d.process, i.process) <> ALL (${live}::int[]))
      OR coalesce(d.decided_at, i.recorded_at) < ${givenUpBefore}::timestamptz THEN 'unknown'
    ELSE 'inProgress' END`;
}

/** A refused request was not exploded into items: a search for one finds none. */
function refusalFilters(search: CallSearch, clientId: string | undefined): Prisma.Sql {
  const { outcome, recipient, reference, upstream_ref: ref } = search;
  const about = recipient ?? reference ?? ref;
  const excluded = about !== undefined || (outcome !== undefined && outcome !== 'refused');
  return Prisma.join(
    [
      ...common(search, clientId, Prisma.sql`r`),
      ...(excluded ? [Prisma.sql`FALSE`] : []),
      // To an app, what it asked again is the call that it asked first.
      ...(clientId === undefined ? [] : [Prisma.sql`r.first_call_id IS NULL`]),
    ],
    ' AND ',
  );
}

/** The filters that intents and refusals share. */
function common(search: CallSearch, clientId: string | undefined, table: Prisma.Sql): Prisma.Sql[] {
  const { from, to, client, operation, idempotency_key: key } = search;
  const before = idBefore(search);
  const bound = (comparison: Prisma.Sql, id: string) => Prisma.sql`${table}.id ${comparison} ${id}::uuid`;
  return [
    Prisma.sql`TRUE`,
    ...(from === undefined ? [] : [bound(Prisma.sql`>=`, uuidFloor(new Date(from)))]),
    ...(to === undefined ? [] : [bound(Prisma.sql`<`, uuidFloor(new Date(to)))]),
    ...(before === undefined ? [] : [bound(Prisma.sql`<`, before)]),
    ...(operation === undefined ? [] : [Prisma.sql`${table}.operation = ${operation}`]),
    ...(key === undefined ? [] : [Prisma.sql`${table}.idempotency_key = ${key}`]),
    ...(clientId === undefined ? [] : [Prisma.sql`${table}.client_id = ${clientId}::uuid`]),
    ...(client === undefined
      ? []
      : [Prisma.sql`${table}.client_id IN (SELECT id FROM client WHERE name = ${client} OR id::text = ${client})`]),
  ];
}

function recipientFilter(given: string): Prisma.Sql {
  // An unescaped + in an address is a blank when it arrives, and no contact has one.
  const recipient = given.replaceAll(' ', '+');
  return Prisma.sql`i.id IN (
    SELECT intent_id FROM item_recipient WHERE phone = ${recipient}
    UNION ALL SELECT intent_id FROM item_recipient WHERE lower(email) = lower(${recipient})
    UNION ALL SELECT intent_id FROM item_recipient WHERE lower(handle) = lower(${recipient})
    UNION ALL SELECT intent_id FROM intent_item WHERE receiver = ${given})`;
}

function upstreamRefFilter(ref: string): Prisma.Sql {
  return Prisma.sql`i.id IN (
    SELECT intent_id FROM outcome_item WHERE chi_ref = ${ref}
    UNION ALL SELECT intent_id FROM outcome_item WHERE upstream_id = ${ref}
    UNION ALL SELECT intent_id FROM outcome_item WHERE issue_id = ${ref}
    UNION ALL SELECT intent_id FROM intent_item WHERE chi_ref = ${ref})`;
}
