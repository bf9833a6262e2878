import { Body, Controller, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Allow } from '../auth/allow';
import { ClientsService } from '../clients/clients.service';
import { ApiKeyProblems } from '../errors/api-problems';
import { asProblem } from './as-problem';
import { ClientDto, ClientsDto, NewClientDto } from './client-answers.dto';
import { ChangeClientDto, CreateClientDto, limitsIn } from './clients.dto';

const NAME = { name: 'name', schema: { type: 'string' }, description: "The client's name." } as const;

/** Client apps and what they may do. */
@ApiTags('Clients')
@ApiSecurity('key')
@Controller('v1/clients')
export class ClientsController {
  constructor(private readonly clients: ClientsService) {}

  @Get()
  @Allow('admin')
  @ApiOperation({ summary: 'List the clients', operationId: 'listClients', description: 'Scope `admin`.' })
  @ApiResponse({ status: 200, type: ClientsDto, description: 'All of them.' })
  @ApiKeyProblems()
  async list(): Promise<ClientsDto> {
    return { clients: await this.clients.list() };
  }

  @Post()
  @Allow('admin')
  @ApiOperation({
    summary: 'Make a client with its first key',
    operationId: 'createClient',
    description: 'Scope `admin`. What is left out, or null, is not limited.',
  })
  @ApiResponse({ status: 201, type: NewClientDto, description: 'The client, and its key this once.' })
  @ApiKeyProblems('invalid_request', 'client_exists')
  async create(@Body() body: CreateClientDto): Promise<NewClientDto> {
    const { name, scopes, operations = null, person } = body;
    const grants = { operations, person, ...limitsIn(body) };
    const { key } = await this.clients.create(name, scopes, grants).catch(asProblem);
    return { ...(await this.clients.find(name)), key };
  }

  @Get(':name')
  @Allow('admin')
  @ApiOperation({ summary: 'Read a client', operationId: 'readClient', description: 'Scope `admin`.' })
  @ApiParam(NAME)
  @ApiResponse({ status: 200, type: ClientDto, description: 'The client.' })
  @ApiKeyProblems('client_not_found')
  one(@Param('name') name: string): Promise<ClientDto> {
    return this.clients.find(name).catch(asProblem);
  }

  @Patch(':name')
  @Allow('admin')
  @ApiOperation({
    summary: 'Change what a client may do',
    operationId: 'changeClient',
    description: 'Scope `admin`. What is left out stays; null takes a limit away. It holds from the next request on.',
  })
  @ApiParam(NAME)
  @ApiResponse({ status: 200, type: ClientDto, description: 'The client as it is now.' })
  @ApiKeyProblems('invalid_request', 'client_not_found')
  change(@Param('name') name: string, @Body() body: ChangeClientDto): Promise<ClientDto> {
    const { scopes, operations } = body;
    const change = {
      ...(scopes !== undefined && { scopes }),
      ...(operations !== undefined && { operations }),
      ...limitsIn(body),
    };
    return this.clients.update(name, change).catch(asProblem);
  }
}
