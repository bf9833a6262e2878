import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply } from 'fastify';
import { Allow } from '../../access/auth/route-access';
import { AuthenticatedCall, changedBy, CurrentCall } from '../../access/auth/call';
import { StepUp } from '../../access/auth/step-up';
import { BeneficiariesService } from '../../access/clients/beneficiaries.service';
import { GovernanceService, isWaiting } from '../../access/governance/governance.service';
import { isUuid } from '../../platform/database/uuid';
import { idBefore, LONG_PAGE, rowsToRead, toPage } from '../../platform/schema/page';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { Fault, Problem } from '../../platform/errors/problem';
import { asProblem, waiting, WAITS } from './waiting';
import {
  BeneficiaryPage,
  BeneficiarySearch,
  ChangeBeneficiariesDto,
  ChangedBeneficiariesDto,
} from './beneficiaries.dto';
import { BENEFICIARY_MUST, readBeneficiary } from '../../http/validation/beneficiary-text';
import { WaitingDto } from './changes.dto';
import { ApiClientName, ApiSummary } from '../../platform/schema/routes';

/** Manages whom a client may pay. */
@ApiTags('Clients')
@Controller('v1/clients/:name/beneficiaries')
export class BeneficiariesController {
  constructor(
    private readonly register: BeneficiariesService,
    private readonly governance: GovernanceService,
  ) {}

  @Get()
  @Allow('admin')
  @ApiSummary(
    "List a client's register of recipients",
    'Recipients are stored as hashes and masks, so nobody sees more.',
  )
  @ApiClientName()
  @ApiResponse({ status: 200, type: BeneficiaryPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request', 'client_not_found')
  async listBeneficiaries(@Param('name') name: string, @Query() search: BeneficiarySearch): Promise<BeneficiaryPage> {
    const filters = { list: search.list, after: idBefore(search), limit: rowsToRead(search, LONG_PAGE) };
    const found = await this.register.list(name, filters).catch(asProblem);
    const { rows, nextPageToken } = toPage(found, search, { sizes: LONG_PAGE });
    return { beneficiaries: rows, next_page_token: nextPageToken };
  }

  @Post()
  @HttpCode(200)
  @Allow('admin')
  @StepUp()
  @ApiSummary(
    "Change a client's register of recipients",
    'Each addition and removal is recorded. What is so already stays as it is. With dual control, additions ' +
      'to `allowed` and removals from `blocked` wait, so `add` and `remove` go into two requests.',
  )
  @ApiClientName()
  @ApiResponse({ status: 200, type: ChangedBeneficiariesDto, description: 'The change.' })
  @ApiResponse({ status: 202, type: WaitingDto, description: WAITS })
  @ApiKeyProblems('invalid_request', 'client_not_found', 'personal_key_required', 'step_up_required')
  async changeBeneficiaries(
    @CurrentCall() call: AuthenticatedCall,
    @Param('name') name: string,
    @Body() { list, add: added = [], remove: removed = [], reason }: ChangeBeneficiariesDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ChangedBeneficiariesDto | WaitingDto> {
    const add = added.map(readBeneficiary);
    const remove = removed.map((text) => (isUuid(text) ? text : readBeneficiary(text)));
    const faults = [...faultsIn('add', add), ...faultsIn('remove', remove)];
    if (faults.length > 0) throw new Problem('invalid_request', { faults });
    const change = { list, add: add.filter(isDefined), remove: remove.filter(isDefined) };
    const changed = await this.governance.changeRegister(name, change, changedBy(call, reason)).catch(asProblem);
    return isWaiting(changed) ? waiting(changed, reply) : changed;
  }
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}

function faultsIn(field: 'add' | 'remove', read: unknown[]): Fault[] {
  return read.flatMap((one, place) =>
    one === undefined ? [{ pointer: `/${field}/${place}`, detail: BENEFICIARY_MUST }] : [],
  );
}
