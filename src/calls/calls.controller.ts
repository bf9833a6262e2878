import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { FullCallRecord } from '../audit/record.dto';
import { RecordsService } from '../audit/records.service';
import { Allow } from '../auth/allow';
import { Call } from '../auth/call';
import { CurrentCall } from '../auth/current-call';
import { isUuid } from '../database/uuid';
import { ApiKeyProblems } from '../errors/api-problems';
import { Problem } from '../errors/problem';

/** What became of one's own calls. */
@ApiTags('Calls')
@ApiSecurity('key')
@Controller('v1/calls')
export class CallsController {
  constructor(private readonly records: RecordsService) {}

  @Get(':id')
  @Allow('pay', 'write', 'read')
  @ApiOperation({
    summary: 'What became of a call',
    operationId: 'readCall',
    description: 'Scope `pay`, `write` or `read`; only calls of the same client are found.',
  })
  @ApiParam({ name: 'id', schema: { type: 'string', format: 'uuid' }, description: 'The `X-Call-Id` of its answer.' })
  @ApiResponse({ status: 200, type: FullCallRecord, description: 'The call.' })
  @ApiKeyProblems('call_not_found')
  async one(@CurrentCall() { caller }: Call, @Param('id') id: string): Promise<FullCallRecord> {
    const record = isUuid(id) && caller && (await this.records.one(id, true, caller.clientId));
    if (!record) throw new Problem('call_not_found');
    return record;
  }
}
