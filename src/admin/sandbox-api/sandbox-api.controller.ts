import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { AuthenticatedCall, CurrentCall } from '../../access/auth/call';
import { Allow } from '../../access/auth/route-access';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ProblemCode } from '../../platform/errors/problems';
import { ApiSummary } from '../../platform/schema/routes';
import { SandboxControlService } from './control.service';
import { NewFaultDto, NewSampleDto, SampleAnswerDto, SandboxDto, SandboxFaultDto } from './sandbox-api.dto';
import { SandboxApiService } from './sandbox-api.service';

const WHERE = 'Requires the embedded sandbox. With `UPSTREAM_BASE_URL`, returns 404 `not_found`.';
const Problems = (...own: ProblemCode[]) => ApiKeyProblems('not_found', 'sandbox_unreachable', ...own);

/** Controls the embedded sandbox, for evaluating the product. */
@ApiTags('Sandbox')
@Controller('v1/sandbox')
export class SandboxApiController {
  constructor(
    private readonly service: SandboxApiService,
    private readonly control: SandboxControlService,
  ) {}

  @Get()
  @Allow('admin')
  @ApiSummary("Read the sandbox's wallets, faults and samples", WHERE)
  @ApiResponse({ status: 200, type: SandboxDto, description: 'The state of the sandbox.' })
  @Problems()
  readSandbox(): Promise<SandboxDto> {
    return this.service.state();
  }

  @Post('faults')
  @Allow('admin')
  @ApiSummary(
    'Switch a fault on',
    `${WHERE} The fault applies to later requests of the interface. If several match, the first due applies.`,
  )
  @ApiResponse({ status: 201, type: SandboxFaultDto, description: 'The fault is on.' })
  @Problems('invalid_request')
  addSandboxFault(@Body() fault: NewFaultDto): Promise<SandboxFaultDto> {
    return this.service.addFault(fault);
  }

  @Delete('faults')
  @HttpCode(204)
  @Allow('admin')
  @ApiSummary('Switch all faults off', WHERE)
  @ApiResponse({ status: 204, description: 'Done.' })
  @Problems()
  removeSandboxFaults(): Promise<void> {
    return this.control.removeFaults();
  }

  @Delete('faults/:id')
  @HttpCode(204)
  @Allow('admin')
  @ApiSummary('Switch a fault off', WHERE)
  @ApiParam({ name: 'id', schema: { type: 'integer' }, description: 'ID of the fault.' })
  @ApiResponse({ status: 204, description: 'Done.' })
  @Problems('fault_not_found')
  removeSandboxFault(@Param('id') id: string): Promise<void> {
    return this.control.removeFault(id);
  }

  @Post('payouts')
  @HttpCode(200)
  @Allow('admin')
  @ApiSummary(
    'Send a sample payout',
    `${WHERE} The proxy sends it with the key of the demo client \`app\`, and checks and records it like ` +
      "any other request. The response is 200 even if the app's request was rejected.",
  )
  @ApiResponse({ status: 200, type: SampleAnswerDto, description: "The app's response." })
  @Problems('invalid_request', 'demo_key_missing')
  sendSandboxPayout(
    @CurrentCall() call: AuthenticatedCall,
    @Body() sample: NewSampleDto,
  ): Promise<SampleAnswerDto> {
    return this.service.send(call, sample);
  }
}
