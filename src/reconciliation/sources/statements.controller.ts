import { Readable } from 'node:stream';
import { Controller, Get, HttpStatus, Param, Post, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiConsumes, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyReply, FastifyRequest } from 'fastify';
import { AuthenticatedCall, authorOf, CurrentCall, maySeePeople } from '../../access/auth/call';
import { Allow, Shows, showsNoPeople } from '../../access/auth/route-access';
import { ReadingsService } from '../../history/access-log/accesses.service';
import { bodyFault } from '../../http/validation/json-body';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ApiId, ApiSummary } from '../../platform/schema/routes';
import {
  ImportedStatement,
  StatementPage,
  StatementQuery,
  StatementSearch,
  StatementWithFaults,
} from './statements.dto';
import { StatementsService } from './statements.service';

@ApiTags('Reconciliation')
@Controller('v1/reconciliation/statements')
export class StatementsController {
  constructor(
    private readonly statements: StatementsService,
    private readonly readings: ReadingsService,
  ) {}

  @Post()
  @Allow('reconcile')
  @RouteConfig({ takesCsv: true })
  @Shows('itself')
  @ApiSummary(
    'Import a statement',
    "Imports a provider's CSV file of transactions, to compare with. The first line names the " +
      'columns. Lines that cannot be used are listed, and the others are used. The same file with the same ' +
      'mapping is imported once. Columns that identify recipients are read only with `audit:pii`. ' +
      '`ignored_fields` names the columns that were not read.',
  )
  @ApiConsumes('text/csv')
  @ApiBody({ required: true, schema: { type: 'string' }, description: 'The file, in UTF-8, up to 1 GiB.' })
  @ApiResponse({ status: 201, type: ImportedStatement, description: 'The statement was imported.' })
  @ApiResponse({
    status: 200,
    type: ImportedStatement,
    description: 'Already imported. Nothing was changed.',
  })
  @ApiKeyProblems('invalid_request')
  async importStatement(
    @CurrentCall() call: AuthenticatedCall,
    @Req() request: FastifyRequest,
    @Query() query: StatementQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ImportedStatement> {
    const { body } = request;
    if (!(body instanceof Readable)) throw bodyFault('is not CSV; send the file with Content-Type: text/csv');
    const by = { ...authorOf(call), seesPeople: maySeePeople(call) };
    const { statement, readsPeople } = await this.statements.import(body, query, by);
    await this.readings.record(request, { ...showsNoPeople(statement.faults), compares: readsPeople });
    void reply.status(statement.already_imported ? HttpStatus.OK : HttpStatus.CREATED);
    return statement;
  }

  @Get()
  @Allow('reconcile')
  @Shows(({ statements }: StatementPage) => showsNoPeople(statements))
  @ApiSummary('List the statements', 'Newest first.')
  @ApiResponse({ status: 200, type: StatementPage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async listStatements(@Query() search: StatementSearch): Promise<StatementPage> {
    const { rows, nextPageToken } = await this.statements.list(search);
    return { statements: rows, next_page_token: nextPageToken };
  }

  @Get(':id')
  @Allow('reconcile')
  @Shows(({ faults }: StatementWithFaults) => showsNoPeople(faults))
  @ApiSummary('Read a statement and its faults', 'With up to 10,000 of the lines that could not be used.')
  @ApiId("The statement's ID.")
  @ApiResponse({ status: 200, type: StatementWithFaults, description: 'The statement.' })
  @ApiKeyProblems('statement_not_found')
  readStatement(@Param('id') id: string): Promise<StatementWithFaults> {
    return this.statements.one(id);
  }
}
