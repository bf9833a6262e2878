import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiProduces, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall, mayReveal } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { Shown, Shows } from '../../access/auth/shows';
import { isUuid } from '../../platform/database/uuid';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { requireMaySearchPeople } from '../search/people-search';
import { ExportSearch } from './export.dto';
import { ExportService } from './export.service';
import { CONTENT_TYPES } from './format';
import { ManifestRecord } from './manifest.dto';
import { ManifestsService } from './manifests.service';

@ApiTags('Audit')
@ApiSecurity('key')
@Controller('v1/audit/export')
export class ExportController {
  constructor(
    private readonly exports: ExportService,
    private readonly manifests: ManifestsService,
  ) {}

  @Get()
  @Allow('audit')
  @Shows('itself')
  @ApiOperation({
    summary: 'Export the history',
    operationId: 'exportHistory',
    description:
      'Scope `audit`. Streamed, oldest first, with the filters of the search. The header `Link` names the manifest, which ' +
      'says how many rows the whole file has and what its SHA-256 is. An export that breaks off has no manifest, and its ' +
      'connection ends abruptly. ' +
      'In CSV, a cell that a spreadsheet would take for a formula, or that begins with an apostrophe, begins with an ' +
      'apostrophe more. Without `audit:pii`, recipients are masked and not searched by.',
  })
  @ApiProduces('text/csv', 'application/x-ndjson')
  @ApiResponse({
    status: 200,
    description: 'The rows.',
    headers: {
      Link: {
        description:
          'The address of the manifest (RFC 8288, `rel="describedby"`). It is there once the export has ended.',
        schema: { type: 'string', example: '</v1/audit/export/{id}/manifest>; rel="describedby"' },
      },
      'X-Total-Count': {
        description: 'How many rows there will be, if that could be counted at once; some more may come meanwhile.',
        schema: { type: 'integer', minimum: 0 },
      },
    },
    schema: { type: 'string' },
  })
  @ApiKeyProblems('invalid_request', 'too_many_exports', 'too_many_streams')
  async export(
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
      .header('link', `</v1/audit/export/${request.call.id}/manifest>; rel="describedby"; type="application/json"`);
    if (total !== undefined) void reply.header('x-total-count', total);
    return stream;
  }

  @Get(':id/manifest')
  @Allow('audit')
  @Shows(showsManifest)
  @ApiOperation({
    summary: 'Read the manifest of an export',
    operationId: 'readExportManifest',
    description:
      'Scope `audit`. A file is whole and unchanged if it has as many rows and the same SHA-256 as its manifest. ' +
      'An export has no manifest while it is being read, and none if it broke off.',
  })
  @ApiParam({ name: 'id', description: "The export's `X-Call-Id`.", schema: { type: 'string', format: 'uuid' } })
  @ApiResponse({ status: 200, type: ManifestRecord, description: 'The manifest.' })
  @ApiKeyProblems('record_not_found')
  async manifest(@CurrentCall() call: AuthenticatedCall, @Param('id') id: string): Promise<ManifestRecord> {
    const manifest = isUuid(id) && (await this.manifests.find(id, mayReveal(call)));
    if (!manifest) {
      const text = 'There is no manifest: no export has this id, or it is still being read, or it broke off.';
      throw new Problem('record_not_found', { text });
    }
    return manifest;
  }
}

function showsManifest({ access_id, filters }: ManifestRecord): Shown {
  return { rows: 1, about: { access_id }, people: Object.keys(filters).length > 0 };
}
