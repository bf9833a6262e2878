import { Body, Controller, Delete, HttpCode, Patch, Post } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/route-access';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ApiSummary } from '../../platform/schema/routes';
import {
  FeesDto,
  ListingDelayDto,
  ListLiesDto,
  NewEntryDto,
  SandboxLiesDto,
  StatusWordDto,
} from './lies.dto';
import { SandboxLiesService } from './lies.service';

const LIES = { status: 200, type: SandboxLiesDto, description: 'Lies of the sandbox.' };
const Problems = () => ApiKeyProblems('not_found', 'sandbox_unreachable', 'invalid_request');
const REST = 'Omitted fields stay unchanged.';

/** Controls the lies of the embedded sandbox. Requires the scope `admin`. */
@ApiTags('Sandbox')
@Controller('v1/sandbox')
export class SandboxLiesController {
  constructor(private readonly lies: SandboxLiesService) {}

  @Patch('lies/fees')
  @Allow('admin')
  @ApiSummary('Charge fees', REST)
  @ApiResponse(LIES)
  @Problems()
  setSandboxFees(@Body() fees: FeesDto): Promise<SandboxLiesDto> {
    return this.lies.fees(fees);
  }

  @Patch('lies/listing-delay')
  @Allow('admin')
  @ApiSummary('List transactions late', REST)
  @ApiResponse(LIES)
  @Problems()
  setSandboxListingDelay(@Body() delay: ListingDelayDto): Promise<SandboxLiesDto> {
    return this.lies.listingDelay(delay);
  }

  @Patch('lies/words')
  @Allow('admin')
  @ApiSummary('Show another word for a status', REST)
  @ApiResponse(LIES)
  @Problems()
  setSandboxWord(@Body() word: StatusWordDto): Promise<SandboxLiesDto> {
    return this.lies.word(word);
  }

  @Patch('lies/lists')
  @Allow('admin')
  @ApiSummary('Make a list lie', REST)
  @ApiResponse(LIES)
  @Problems()
  setSandboxList(@Body() list: ListLiesDto): Promise<SandboxLiesDto> {
    return this.lies.list(list);
  }

  @Delete('lies')
  @Allow('admin')
  @ApiSummary('End all lies', 'Faults stay on.')
  @ApiResponse(LIES)
  @ApiKeyProblems('not_found', 'sandbox_unreachable')
  endSandboxLies(): Promise<SandboxLiesDto> {
    return this.lies.end();
  }

  @Post('entries')
  @HttpCode(204)
  @Allow('admin')
  @ApiSummary(
    'Book a wallet entry that no transaction explains',
    'The next run reports a fee or a withdrawal as `unexplained_debit`.',
  )
  @ApiResponse({ status: 204, description: 'Done.' })
  @Problems()
  addSandboxEntry(@Body() entry: NewEntryDto): Promise<void> {
    return this.lies.addEntry(entry);
  }
}
