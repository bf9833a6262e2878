import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { Shows, showsCall, showsCalls } from '../../access/auth/shows';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ApprovalPage, ApprovalSearch, DecisionDto, FullApprovalRecord } from './approvals.dto';
import { ApprovalsService } from './approvals.service';

const CallId = () =>
  ApiParam({ name: 'call_id', schema: { type: 'string', format: 'uuid' }, description: "The held call's id." });

/** Calls that somebody else must agree to before they are sent. */
@ApiTags('Approvals')
@ApiSecurity('key')
@Controller('v1/approvals')
export class ApprovalsController {
  constructor(private readonly approvals: ApprovalsService) {}

  @Get()
  @Allow('approve')
  @Shows(({ approvals }: ApprovalPage) => showsCalls(approvals))
  @ApiOperation({ summary: 'List held calls', operationId: 'listApprovals', description: 'Scope `approve`.' })
  @ApiResponse({ status: 200, type: ApprovalPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  list(@CurrentCall() call: AuthenticatedCall, @Query() search: ApprovalSearch): Promise<ApprovalPage> {
    return this.approvals.list(call, search);
  }

  @Get(':call_id')
  @Allow('approve')
  @Shows(showsCall)
  @ApiOperation({ summary: 'Read a held call', operationId: 'readApproval', description: 'Scope `approve`.' })
  @CallId()
  @ApiResponse({ status: 200, type: FullApprovalRecord, description: 'The call, with its `approval`.' })
  @ApiKeyProblems('approval_not_found')
  one(@CurrentCall() call: AuthenticatedCall, @Param('call_id') id: string): Promise<FullApprovalRecord> {
    return this.approvals.one(call, id);
  }

  @Post(':call_id/approve')
  @HttpCode(200)
  @Allow('approve')
  @Shows(showsCall)
  @ApiOperation({
    summary: 'Approve a held call, and send it',
    operationId: 'approveCall',
    description:
      'Scope `approve`; not by the client, the key or the person that asked for it. It is sent once, and answered when ' +
      'what came of it is recorded: look at `outcome`, which may be `unknown`.',
  })
  @CallId()
  @ApiResponse({ status: 200, type: FullApprovalRecord, description: 'The call, with what came of it.' })
  @ApiKeyProblems(
    ...(['invalid_request', 'own_approval', 'cap_exceeded', 'approval_not_found', 'already_decided'] as const),
    'key_revoked',
    'no_longer_allowed',
    ...(['content_changed', 'stopped', 'outcome_unknown'] as const),
  )
  approve(
    @CurrentCall() call: AuthenticatedCall,
    @Param('call_id') id: string,
    @Body() decision: DecisionDto,
  ): Promise<FullApprovalRecord> {
    return this.approvals.approve(call, id, decision);
  }

  @Post(':call_id/reject')
  @HttpCode(200)
  @Allow('approve')
  @Shows(showsCall)
  @ApiOperation({
    summary: 'Reject a held call',
    operationId: 'rejectCall',
    description: 'Scope `approve`; not by the client, the key or the person that asked for it. It is never sent.',
  })
  @CallId()
  @ApiResponse({ status: 200, type: FullApprovalRecord, description: 'The call, declined.' })
  @ApiKeyProblems('invalid_request', 'own_approval', 'approval_not_found', 'already_decided', 'content_changed')
  reject(
    @CurrentCall() call: AuthenticatedCall,
    @Param('call_id') id: string,
    @Body() decision: DecisionDto,
  ): Promise<FullApprovalRecord> {
    return this.approvals.reject(call, id, decision);
  }
}
