import { applyDecorators, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiExtraModels } from '@nestjs/swagger';
import { FastifyRequest } from 'fastify';
import { AuthenticatedCall, CurrentCall } from '../../access/auth/call';
import { Allow } from '../../access/auth/route-access';
import { TakesTurn } from '../../http/quotas/turn-interceptors';
import { RequestValidationPipe } from '../../http/validation/validation.pipe';
import { OperationName, pathOf, PREVIEW_PREFIX, scopesOf } from '../../operations/catalogue/catalogue';
import { Preview } from './preview.dto';
import { PreviewService } from './preview.service';

/** A class with the validation rules of a body. */
type BodyClass = new () => object;

/**
 * Previews the operations that pay or create something. `addPreview` adds a handler for each, because a
 * preview takes its operation's body class.
 */
@ApiExtraModels(Preview)
@Controller(PREVIEW_PREFIX)
export class PreviewController {
  constructor(
    private readonly previews: PreviewService,
    private readonly validation: RequestValidationPipe,
  ) {}

  /** Validates the body itself, because faults are part of a preview and do not reject it. */
  async preview(
    call: AuthenticatedCall,
    operation: OperationName,
    { body }: FastifyRequest,
    bodyClass: BodyClass,
  ): Promise<Preview> {
    const { instance, found } = await this.validation.checkBody(body, bodyClass);
    return this.previews.preview(call, operation, { body: found.total === 0 ? instance : body, found });
  }
}

/**
 * Adds the preview of an operation: its route, its scopes, and its body's documentation.
 * @param handlerName the operation's own handler. The preview of `sendAirtime` is `previewSendAirtime`.
 */
export function addPreview(operation: OperationName, handlerName: string, bodyClass: BodyClass): void {
  const name = `preview${handlerName.charAt(0).toUpperCase()}${handlerName.slice(1)}`;
  const handler = function (this: PreviewController, call: AuthenticatedCall, request: FastifyRequest) {
    return this.preview(call, operation, request, bodyClass);
  };
  const descriptor = { value: handler, writable: true, configurable: true };
  const controller = PreviewController.prototype;
  Object.defineProperty(handler, 'name', { value: name });
  Object.defineProperty(controller, name, descriptor);
  CurrentCall()(controller, name, 0);
  Req()(controller, name, 1);
  const decorate = applyDecorators(
    Post(pathOf(operation)),
    HttpCode(200),
    Allow(...scopesOf(operation)),
    TakesTurn('previews'),
    RouteConfig({ operation, isPreview: true }),
    ApiBody({ type: bodyClass }),
  );
  decorate(controller, name, descriptor);
}
