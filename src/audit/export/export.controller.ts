import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiProduces, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { Allow } from '../../auth/allow';
import { Shows } from '../../auth/shows';
import { ApiKeyProblems } from '../../errors/api-problems';
import { ExportSearch } from './export.dto';
import { ExportService } from './export.service';
import { CONTENT_TYPES } from './format';

@ApiTags('Audit')
@ApiSecurity('key')
@Controller('v1/audit/export')
export class ExportController {
  constructor(private readonly exports: ExportService) {}

  @Get()
  @Allow('audit')
  @Shows('itself')
  @ApiOperation({
    summary: 'Export the history',
    operationId: 'exportHistory',
    description:
      'Scope `audit`. Streamed, oldest first, with the filters of the search. The last line is a manifest with the number ' +
      'of rows and the SHA-256 of all before it; an export without it was broken off, and its connection ended abruptly. ' +
      'In CSV, a cell that a spreadsheet would take for a formula, or that begins with an apostrophe, begins with an ' +
      'apostrophe more. Recipients are masked without `audit:pii`.',
  })
  @ApiProduces('text/csv', 'application/x-ndjson')
  @ApiResponse({
    status: 200,
    description: 'The rows, then the manifest.',
    headers: {
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
    const { stream, total } = await this.exports.begin(request, search);
    const { format, what = 'calls' } = search;
    void reply
      .header('content-type', CONTENT_TYPES[format])
      .header('content-disposition', `attachment; filename="payout-proxy-${what}.${format}"`);
    if (total !== undefined) void reply.header('x-total-count', total);
    return stream;
  }
}
