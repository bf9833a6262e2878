import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { Shows, showsCall, showsCalls } from '../../access/auth/shows';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ApprovalPage, ApprovalSearch, DecisionDto, FullApprovalRecord } from './approvals.dto';
import { ApprovalsService } from './approvals.service';

const CallId = () =>
  ApiParam({ name: 'call_id', schema: { type: 'string', format: 'uuid' }, description: "The call's ID." });

/** Serves the calls that need the approval of somebody else before they are sent. */
@ApiTags('Approvals')
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
      'Scope `approve`. Requires a client, a key, and a person other than those of the requester. The call is sent once. The response follows when ' +
      'the outcome is recorded. Check `outcome`, which may be `unknown`.',
  })
  @CallId()
  @ApiResponse({ status: 200, type: FullApprovalRecord, description: 'The call with its outcome.' })
  @ApiKeyProblems(
    ...(['invalid_request', 'own_approval', 'cap_exceeded', 'approval_not_found', 'already_decided'] as const),
    'approval_expired',
    ...(['key_revoked', 'no_longer_allowed', 'suspected_duplicate', 'step_up_required'] as const),
    'personal_key_required',
    ...(['content_lost', 'content_changed', 'stopped', 'instance_fenced', 'outcome_unknown'] as const),
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
    description:
      "Scope `approve`. Requires a client, a key, and a person other than the requester's. The call is never sent.",
  })
  @CallId()
  @ApiResponse({ status: 200, type: FullApprovalRecord, description: 'The rejected call.' })
  @ApiKeyProblems(
    ...(['invalid_request', 'own_approval', 'approval_not_found', 'already_decided'] as const),
    'approval_expired',
    ...(['personal_key_required', 'content_changed', 'instance_fenced'] as const),
  )
  reject(
    @CurrentCall() call: AuthenticatedCall,
    @Param('call_id') id: string,
    @Body() decision: DecisionDto,
  ): Promise<FullApprovalRecord> {
    return this.approvals.reject(call, id, decision);
  }
}
