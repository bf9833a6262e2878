import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Loaded } from '../config/config.module';
import { longestUpstreamTimeout } from '../config/upstream-timeouts';
import { Prisma } from '../database/generated/client';
import { PrismaService } from '../database/prisma.service';
import { uuidFloor } from '../database/uuid';
import { inDoubtBefore } from './outcome';
import { idBefore, Page, rowsToRead, toPage } from './page';
import { CallSearch } from './search.dto';

/**
 * An intent whose commit was reported as failed, but was not, was refused and never sent: its refusal says so, and there
 * is nothing to doubt.
 */
const WITHOUT_OUTCOME = Prisma.sql`o.intent_id IS NULL AND NOT EXISTS (SELECT FROM refusal WHERE refusal.id = i.id)`;

/** Finds calls by their ids, newest first; what each holds, records.service.ts reads. */
@Injectable()
export class SearchService {
  private readonly longestTimeoutMs: number;

  constructor(
    private readonly prisma: PrismaService,
    config: ConfigService<Loaded, true>,
  ) {
    this.longestTimeoutMs = longestUpstreamTimeout(config.get('settings', { infer: true }));
  }

  async search(search: CallSearch): Promise<Page<{ id: string }>> {
    const limit = rowsToRead(search);
    const rows = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT id::text FROM (
        (SELECT i.id FROM intent i LEFT JOIN outcome o ON o.intent_id = i.id
         WHERE ${this.intentFilters(search)} ORDER BY i.id DESC LIMIT ${limit})
        UNION
        (SELECT r.id FROM refusal r
         WHERE ${this.refusalFilters(search)} ORDER BY r.id DESC LIMIT ${limit})
      ) AS calls ORDER BY calls.id DESC LIMIT ${limit}`;
    return toPage(rows, search);
  }

  private intentFilters(search: CallSearch): Prisma.Sql {
    const { outcome, recipient, reference, upstream_ref: ref } = search;
    return Prisma.join(
      [
        ...common(search, Prisma.sql`i`),
        ...(outcome === undefined ? [] : [this.outcomeFilter(outcome)]),
        ...(recipient === undefined ? [] : [recipientFilter(recipient)]),
        ...(reference === undefined
          ? []
          : [
              Prisma.sql`i.id IN (SELECT intent_id FROM intent_item WHERE reference = ${reference} AND reference <> '')`,
            ]),
        ...(ref === undefined ? [] : [upstreamRefFilter(ref)]),
      ],
      ' AND ',
    );
  }

  private outcomeFilter(outcome: string): Prisma.Sql {
    const doubt = uuidFloor(inDoubtBefore(this.longestTimeoutMs));
    switch (outcome) {
      case 'refused':
        return Prisma.sql`FALSE`;
      case 'inProgress':
        return Prisma.sql`${WITHOUT_OUTCOME} AND i.id >= ${doubt}::uuid`;
      case 'unknown':
        return Prisma.sql`(o.kind = 'unknown' OR (${WITHOUT_OUTCOME} AND i.id < ${doubt}::uuid))`;
      default:
        return Prisma.sql`o.kind = ${outcome}`;
    }
  }

  /** A refused request was not exploded into items: a search for one finds none. */
  private refusalFilters(search: CallSearch): Prisma.Sql {
    const { outcome, recipient, reference, upstream_ref: ref } = search;
    const about = recipient ?? reference ?? ref;
    const excluded = about !== undefined || (outcome !== undefined && outcome !== 'refused');
    return Prisma.join([...common(search, Prisma.sql`r`), ...(excluded ? [Prisma.sql`FALSE`] : [])], ' AND ');
  }
}

/** The filters that intents and refusals share. */
function common(search: CallSearch, table: Prisma.Sql): Prisma.Sql[] {
  const { from, to, client, operation } = search;
  const before = idBefore(search);
  const bound = (comparison: Prisma.Sql, id: string) => Prisma.sql`${table}.id ${comparison} ${id}::uuid`;
  return [
    Prisma.sql`TRUE`,
    ...(from === undefined ? [] : [bound(Prisma.sql`>=`, uuidFloor(new Date(from)))]),
    ...(to === undefined ? [] : [bound(Prisma.sql`<`, uuidFloor(new Date(to)))]),
    ...(before === undefined ? [] : [bound(Prisma.sql`<`, before)]),
    ...(operation === undefined ? [] : [Prisma.sql`${table}.operation = ${operation}`]),
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
