import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { Listed } from '../search/search.dto';
import { Format, ManifestRecord } from './export.dto';

/** Route of exports in the access log. */
const EXPORT_ROUTE = 'GET /v1/audit/export';

interface ExportRecord {
  filters: Record<string, string>;
  /** Canonical JSON of the filters before masking. Null if nothing was masked, or after an erasure. */
  asked: string | null;
  rows: bigint;
  sha256: Buffer;
  endedAt: Date;
  size: bigint | null;
  note: string | null;
  covers: boolean;
}

/**
 * Rebuilds the manifest of an export from its access record.
 * @param reveal whether to unmask the filters.
 * @returns undefined unless this export was read to its end.
 */
export async function readManifest(
  prisma: SidePrisma,
  accessId: string,
  reveal: boolean,
): Promise<ManifestRecord | undefined> {
  const [record] = await prisma.$queryRaw<ExportRecord[]>`
    SELECT a.filters, convert_from(f.filters, 'UTF8') AS asked, e.rows, e.sha256, e.ended_at AS "endedAt",
      c.size, c.note,
      (c.complete_until >= a.read_at) IS TRUE AS covers
    FROM access a JOIN access_end e ON e.access_id = a.id
    LEFT JOIN access_filters f ON f.access_id = a.id LEFT JOIN checkpoint c ON c.size = e.checkpoint_size
    WHERE a.id = ${accessId}::uuid AND a.route = ${EXPORT_ROUTE} AND e.complete`;
  return record && toManifest(accessId, record, reveal);
}

function toManifest(accessId: string, record: ExportRecord, reveal: boolean): ManifestRecord {
  const asked =
    reveal && record.asked !== null ? (JSON.parse(record.asked) as Record<string, string>) : record.filters;
  const { format, what = 'calls', ...filters } = asked;
  return {
    format: format as Format,
    what: what as Listed,
    filters,
    rows: Number(record.rows),
    sha256: Buffer.from(record.sha256).toString('hex'),
    checkpoint: checkpointOf(record),
    exported_at: record.endedAt.toISOString(),
    access_id: accessId,
  };
}

function checkpointOf({ size, note, covers }: ExportRecord): ManifestRecord['checkpoint'] {
  return size === null || note === null ? null : { size: Number(size), note, covers_beginning: covers };
}
