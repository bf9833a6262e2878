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
import { requireMaySearchPeople } from '../search/search.service';
import { CONTENT_TYPES } from './export-rows';
import { ExportSearch, ManifestRecord } from './export.dto';
import { ExportService } from './export.service';
import { readManifest } from './manifest';

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
    'Streams the matching records, oldest first. The header `Link` names the manifest, which has the number ' +
      'of rows and the SHA-256 of the file. If an export is interrupted, its connection ends abruptly ' +
      'and it has no manifest. ' +
      'In CSV, an apostrophe precedes each cell that begins with one or that a spreadsheet would read ' +
      'as a formula. Without ' +
      '`audit:pii`, recipients are masked and cannot be searched.',
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
          'Expected number of rows, if it could be counted quickly. Calls may still be added during the ' +
          'export.',
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
    'A file is complete and unchanged if its rows and SHA-256 match the manifest. ' +
      'An export has no manifest while it is in progress, or if it was interrupted.',
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
        'There is no manifest with this ID. The export does not exist, is still in progress, or was ' +
        'interrupted.';
      throw new Problem('record_not_found', { text });
    }
    return manifest;
  }
}

function showsManifest({ access_id, filters }: ManifestRecord): ShownHistory {
  return { rows: 1, about: { access_id }, people: Object.keys(filters).length > 0 };
}
