import { Readable } from 'node:stream';
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiProduces, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { AuthenticatedCall, CurrentCall, mayReveal } from '../../access/auth/call';
import { Allow, ShownHistory, Shows } from '../../access/auth/route-access';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { ApiId, ApiSummary } from '../../platform/schema/routes';
import { ResultKind } from '../search/search.dto';
import { requireMaySearchPeople } from '../search/search.service';
import { CONTENT_TYPES } from './export-rows';
import { ExportSearch, Format, ManifestRecord } from './export.dto';
import { ExportService } from './export.service';

@ApiTags('Audit')
@Controller('v1/audit/export')
export class ExportController {
  constructor(
    private readonly exports: ExportService,
    private readonly prisma: SidePrisma,
  ) {}

  @Get()
  @Allow('audit')
  @Shows('itself')
  @ApiSummary(
    'Export the history',
    'Streams the matching records, oldest first. The header `Link` has the address of the manifest, with ' +
      'the number of rows and the SHA-256 of the file. If an export is interrupted, its connection ends ' +
      'abruptly and it has no manifest. In CSV, an apostrophe precedes each cell that begins with one or ' +
      'that a spreadsheet would read as a formula. Without `audit:pii`, recipients are masked and cannot ' +
      'be searched.',
  )
  @ApiProduces('text/csv', 'application/x-ndjson')
  @ApiResponse({
    status: 200,
    description: 'The rows.',
    headers: {
      Link: {
        description:
          'Address of the manifest (RFC 8288, `rel="describedby"`), which exists once the export has ended.',
        schema: { type: 'string', example: '</v1/audit/export/{id}/manifest>; rel="describedby"' },
      },
      'X-Total-Count': {
        description:
          'Expected number of rows. Missing if the count took too long. The export may add new calls.',
        schema: { type: 'integer', minimum: 0 },
      },
    },
    schema: { type: 'string' },
  })
  @ApiKeyProblems('invalid_request', 'readers_busy')
  async exportHistory(
    @Req() request: FastifyRequest,
    @Query() search: ExportSearch,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    requireMaySearchPeople(request.call, search);
    const { stream, total } = await this.exports.begin(request, search);
    const { format, what = 'calls' } = search;
    void reply
      .header('content-type', CONTENT_TYPES[format])
      .header('content-disposition', `attachment; filename="payout-proxy-${what}.${format}"`)
      .header(
        'link',
        `</v1/audit/export/${request.call.id}/manifest>; rel="describedby"; type="application/json"`,
      );
    if (total !== undefined) void reply.header('x-total-count', total);
    return stream;
  }

  @Get(':id/manifest')
  @Allow('audit')
  @Shows(showsManifest)
  @ApiSummary(
    'Read the manifest of an export',
    'A file is complete and unchanged if its rows and SHA-256 match the manifest. An export has no ' +
      'manifest while it is in progress, or if it was interrupted.',
  )
  @ApiId("The export's `X-Call-Id`.")
  @ApiResponse({ status: 200, type: ManifestRecord, description: 'The manifest.' })
  @ApiKeyProblems('record_not_found')
  async readExportManifest(
    @CurrentCall() call: AuthenticatedCall,
    @Param('id') id: string,
  ): Promise<ManifestRecord> {
    const manifest = isUuid(id) && (await readManifest(this.prisma, id, mayReveal(call)));
    if (!manifest) {
      const text =
        'No manifest has this ID. The export does not exist, is still in progress, or was interrupted.';
      throw new Problem('record_not_found', { text });
    }
    return manifest;
  }
}

function showsManifest({ access_id, filters }: ManifestRecord): ShownHistory {
  return { rows: 1, about: { access_id }, people: Object.keys(filters).length > 0 };
}

/** Route of exports in the access log. */
const EXPORT_ROUTE = 'GET /v1/audit/export';

interface ExportRecord {
  filters: Record<string, string>;
  /** Canonical JSON of the filters before masking. Null if nothing was masked, or after an erasure. */
  original: string | null;
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
async function readManifest(
  prisma: SidePrisma,
  accessId: string,
  reveal: boolean,
): Promise<ManifestRecord | undefined> {
  const [record] = await prisma.$queryRaw<ExportRecord[]>`
    SELECT
      a.filters, convert_from(f.filters, 'UTF8') AS original, e.rows, e.sha256, e.ended_at AS "endedAt",
      c.size, c.note, (c.complete_until >= a.read_at) IS TRUE AS covers
    FROM access a
    JOIN access_end e ON e.access_id = a.id
    LEFT JOIN access_filters f ON f.access_id = a.id
    LEFT JOIN checkpoint c ON c.size = e.checkpoint_size
    WHERE a.id = ${accessId}::uuid AND a.route = ${EXPORT_ROUTE} AND e.complete`;
  return record && toManifest(accessId, record, reveal);
}

function toManifest(accessId: string, record: ExportRecord, reveal: boolean): ManifestRecord {
  const original =
    reveal && record.original !== null
      ? (JSON.parse(record.original) as Record<string, string>)
      : record.filters;
  const { format, what = 'calls', ...filters } = original;
  return {
    format: format as Format,
    what: what as ResultKind,
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
