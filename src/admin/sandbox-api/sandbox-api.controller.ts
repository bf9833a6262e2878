import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { AuthenticatedCall } from '../../access/auth/call';
import { CurrentCall } from '../../access/auth/current-call';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ProblemCode } from '../../platform/errors/problems';
import { SandboxControlService } from './control.service';
import { NewFaultDto, NewSampleDto, SampleAnswerDto, SandboxDto, SandboxFaultDto } from './sandbox-api.dto';
import { SandboxApiService } from './sandbox-api.service';

const WHERE =
  'Scope `admin`. Only where the proxy has started the sandbox itself (no `UPSTREAM_BASE_URL`); elsewhere 404 `not_found`.';
const Problems = (...own: ProblemCode[]) => ApiKeyProblems('not_found', 'sandbox_unreachable', ...own);

/** The sandbox that the proxy has started itself, for those who try the product out. */
@ApiTags('Sandbox')
@ApiSecurity('key')
@Controller('v1/sandbox')
export class SandboxApiController {
  constructor(
    private readonly service: SandboxApiService,
    private readonly control: SandboxControlService,
  ) {}

  @Get()
  @Allow('admin')
  @ApiOperation({
    summary: 'Wallets, faults and samples of the sandbox',
    operationId: 'readSandbox',
    description: WHERE,
  })
  @ApiResponse({ status: 200, type: SandboxDto, description: 'The sandbox, as it is now.' })
  @Problems()
  state(): Promise<SandboxDto> {
    return this.service.state();
  }

  @Post('faults')
  @Allow('admin')
  @ApiOperation({
    summary: 'Switch a fault on',
    operationId: 'addSandboxFault',
    description: `${WHERE} It strikes requests of the interface from then on, of all that match the first that is due.`,
  })
  @ApiResponse({ status: 201, type: SandboxFaultDto, description: 'It is on.' })
  @Problems('invalid_request')
  addFault(@Body() fault: NewFaultDto): Promise<SandboxFaultDto> {
    return this.service.addFault(fault);
  }

  @Delete('faults')
  @HttpCode(204)
  @Allow('admin')
  @ApiOperation({ summary: 'Switch all faults off', operationId: 'removeSandboxFaults', description: WHERE })
  @ApiResponse({ status: 204, description: 'There are none any more.' })
  @Problems()
  removeFaults(): Promise<void> {
    return this.control.removeFaults();
  }

  @Delete('faults/:id')
  @HttpCode(204)
  @Allow('admin')
  @ApiOperation({ summary: 'Switch a fault off', operationId: 'removeSandboxFault', description: WHERE })
  @ApiParam({ name: 'id', schema: { type: 'integer' }, description: "The fault's id." })
  @ApiResponse({ status: 204, description: 'It is off.' })
  @Problems('fault_not_found')
  removeFault(@Param('id') id: string): Promise<void> {
    return this.control.removeFault(id);
  }

  @Post('payouts')
  @HttpCode(200)
  @Allow('admin')
  @ApiOperation({
    summary: 'Send a sample payout',
    operationId: 'sendSandboxPayout',
    description: `${WHERE} It is sent with the key of the demo client \`app\`, and goes the way of every request: it is checked, recorded, capped, replayed and sealed as any other. What the app would be refused is an answer here, too.`,
  })
  @ApiResponse({ status: 200, type: SampleAnswerDto, description: 'What the app got.' })
  @Problems('invalid_request', 'demo_key_missing')
  send(@CurrentCall() call: AuthenticatedCall, @Body() sample: NewSampleDto): Promise<SampleAnswerDto> {
    return this.service.send(call, sample);
  }
}
