import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { NEVER_CARRIED_OUT } from './never-carried-out';
import { VerdictTransaction } from './records';

/** What is on record of a call that another one repeats. */
export interface FirstCall {
  id: string;
  /** How long ago it was let go to be sent, by the database's clock. */
  ageMs: number;
  /** Whether it waits, or waited, for an approval; until when, and what was decided. */
  held: { expired: boolean; verdict: string | null } | null;
  /** Whether the process that works on it lives. */
  alive: boolean;
  /** It is certain that nothing was carried out: its key is free. */
  neverCarriedOut: boolean;
  resolution: string | null;
  /** The upstream's transactions that it turned out to be, where the proxy found that out by itself. */
  found: VerdictTransaction[];
  outcome: {
    kind: string;
    /** Why there was no usable answer (FailureCode of upstream/answer.ts). */
    failure: string | null;
    status: number | null;
    contentType: string | null;
    retryAfter: number | null;
    body: Buffer | null;
  } | null;
}

interface Row {
  id: string;
  ageMs: number;
  process: number | null;
  held: boolean;
  expired: boolean;
  verdict: string | null;
  neverCarriedOut: boolean;
  resolution: string | null;
  found: VerdictTransaction[] | null;
  kind: string | null;
  failure: string | null;
  status: number | null;
  contentType: string | null;
  retryAfter: number | null;
  body: Uint8Array | null;
}

export async function readFirstCall(prisma: PrismaService, id: string): Promise<FirstCall | undefined> {
  // First: a process that records an outcome and ends in between would else leave a call that looks abandoned.
  const live = await prisma.$queryRaw<{ number: number }[]>`SELECT live_processes() AS number`;
  const [row] = await prisma.$queryRaw<Row[]>`
    SELECT i.id::text, extract(epoch FROM clock_timestamp() - coalesce(d.decided_at, i.recorded_at))::float * 1000 AS "ageMs", i.held_for IS NOT NULL AS held,
      coalesce(i.expires_at <= clock_timestamp(), FALSE) AS expired, d.verdict,
      coalesce(d.process, i.process) AS process,
      coalesce(${Prisma.raw(NEVER_CARRIED_OUT)}, FALSE) AS "neverCarriedOut", s.verdict AS resolution,
      (SELECT v.evidence -> 'transactions' FROM verdict v WHERE v.intent_id = i.id AND v.verdict = 'confirmed'
        AND s.verdict = 'confirmed' AND s.client_id IS NULL ORDER BY v.id DESC LIMIT 1) AS found,
      o.kind, o.failure, o.upstream_status AS status, o.content_type AS "contentType", o.retry_after AS "retryAfter", b.body
    FROM intent i
    LEFT JOIN decision d ON d.intent_id = i.id
    LEFT JOIN current_resolution s ON s.intent_id = i.id
    LEFT JOIN outcome o ON o.intent_id = i.id
    LEFT JOIN outcome_body b ON b.intent_id = i.id
    WHERE i.id = ${id}::uuid`;
  if (!row) return undefined;
  const { ageMs, process, held, expired, verdict, neverCarriedOut, resolution, found, kind, body, ...rest } = row;
  return {
    id,
    ageMs,
    neverCarriedOut,
    resolution,
    found: found ?? [],
    alive: live.some(({ number }) => number === process),
    held: held ? { expired, verdict } : null,
    outcome: kind === null ? null : { ...rest, kind, body: body && Buffer.from(body) },
  };
}
