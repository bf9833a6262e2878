import { Controller, Get, Query } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import { Allow } from '../../access/auth/allow';
import { Shows, showsNobody } from '../../access/auth/shows';
import { ApiKeyProblems } from '../../platform/errors/api-problems';
import { ShapePage, ShapeSearch } from './shapes.dto';
import { ShapesService } from './shapes.service';
import { ApiSummary } from '../../platform/schema/routes';

@ApiTags('Audit')
@Controller('v1/audit/shapes')
export class ShapesController {
  constructor(private readonly shapes: ShapesService) {}

  @Get()
  @Allow('audit')
  @Shows(({ shapes }: ShapePage) => showsNobody(shapes))
  @ApiSummary(
    "List the shapes of the upstream's answers",
    'One entry for each answer that differs from all earlier answers of its operation and HTTP status: it has ' +
      'a new field or type, or lacks a field that all of them had. At most 100 for each operation.',
  )
  @ApiResponse({ status: 200, type: ShapePage, description: 'One page.' })
  @ApiKeyProblems('invalid_request')
  async listAnswerShapes(@Query() search: ShapeSearch): Promise<ShapePage> {
    const { rows, nextPageToken } = await this.shapes.search(search);
    return { shapes: rows, next_page_token: nextPageToken };
  }
}
