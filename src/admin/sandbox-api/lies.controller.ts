import { Body, Controller, Delete, HttpCode, Patch, Post } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { FeesDto, ListingDelayDto, ListLiesDto, NewEntryDto, SandboxLiesDto, StatusWordDto } from './lies.dto';
import { SandboxLiesService } from './lies.service';

const LIES = { status: 200, type: SandboxLiesDto, description: 'What the sandbox lies about.' };
const Problems = () => ApiKeyProblems('not_found', 'sandbox_unreachable', 'invalid_request');
const REST = 'What is left out stays as it is.';

/** Makes the sandbox lie. Scope `admin`, and only in front of a sandbox that the proxy started itself. */
@ApiTags('Sandbox')
@Controller('v1/sandbox')
export class SandboxLiesController {
  constructor(private readonly lies: SandboxLiesService) {}

  @Patch('lies/fees')
  @Allow('admin')
  @ApiOperation({ summary: 'Charge fees', operationId: 'setSandboxFees', description: REST })
  @ApiResponse(LIES)
  @Problems()
  fees(@Body() fees: FeesDto): Promise<SandboxLiesDto> {
    return this.lies.fees(fees);
  }

  @Patch('lies/listing-delay')
  @Allow('admin')
  @ApiOperation({ summary: 'List transactions late', operationId: 'setSandboxListingDelay', description: REST })
  @ApiResponse(LIES)
  @Problems()
  listingDelay(@Body() delay: ListingDelayDto): Promise<SandboxLiesDto> {
    return this.lies.listingDelay(delay);
  }

  @Patch('lies/words')
  @Allow('admin')
  @ApiOperation({ summary: 'Show another word for a status', operationId: 'setSandboxWord', description: REST })
  @ApiResponse(LIES)
  @Problems()
  word(@Body() word: StatusWordDto): Promise<SandboxLiesDto> {
    return this.lies.word(word);
  }

  @Patch('lies/lists')
  @Allow('admin')
  @ApiOperation({ summary: 'Make a list lie', operationId: 'setSandboxList', description: REST })
  @ApiResponse(LIES)
  @Problems()
  list(@Body() list: ListLiesDto): Promise<SandboxLiesDto> {
    return this.lies.list(list);
  }

  @Delete('lies')
  @Allow('admin')
  @ApiOperation({ summary: 'End all lies', operationId: 'endSandboxLies', description: 'Faults stay on.' })
  @ApiResponse(LIES)
  @ApiKeyProblems('not_found', 'sandbox_unreachable')
  end(): Promise<SandboxLiesDto> {
    return this.lies.end();
  }

  @Post('entries')
  @HttpCode(204)
  @Allow('admin')
  @ApiOperation({
    summary: 'Book a wallet entry that no transaction explains',
    operationId: 'addSandboxEntry',
    description: 'The next run reports a fee or a withdrawal as `unexplained_debit`.',
  })
  @ApiResponse({ status: 204, description: 'Done.' })
  @Problems()
  addEntry(@Body() entry: NewEntryDto): Promise<void> {
    return this.lies.addEntry(entry);
  }
}
