import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { changedBy } from '../../access/auth/changed-by';
import { CurrentCall } from '../../access/auth/current-call';
import { StepUp } from '../../access/auth/step-up';
import { isWaiting } from '../../access/governance/governance.service';
import { PeopleMergesService } from '../../access/governance/people-merges.service';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { asProblem } from './as-problem';
import { WaitingDto } from './changes.dto';
import { MergedPeopleDto, MergePeopleDto } from './person-merges.dto';
import { waiting, WAITS } from './waiting';
import { ApiSummary } from '../../platform/schema/routes';

/** Merges people who are one human. */
@ApiTags('Clients')
@Controller('v1/person-merges')
export class PersonMergesController {
  constructor(private readonly merges: PeopleMergesService) {}

  @Post()
  @HttpCode(200)
  @Allow('admin')
  @StepUp()
  @ApiSummary(
    'Merge two people',
    'Both are one human from then on, who cannot request as one of them and decide as the other. What both ' +
      'spend at one client counts together. Limits and calls stay with each of them. The second person must be neither of ' +
      'them. A merge cannot be undone.',
  )
  @ApiResponse({ status: 200, type: MergedPeopleDto, description: 'Both people.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: WAITS })
  @ApiKeyProblems('invalid_request', 'person_not_found', 'personal_key_required', 'step_up_required')
  async mergePeople(
    @CurrentCall() call: AuthenticatedCall,
    @Body() { kept, merged, reason }: MergePeopleDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MergedPeopleDto | WaitingDto> {
    const done = await this.merges.merge({ kept, merged }, changedBy(call, reason)).catch(asProblem);
    return isWaiting(done) ? waiting(done, reply) : done;
  }
}
