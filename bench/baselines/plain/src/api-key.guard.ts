import {
  CanActivate,
  createParamDecorator,
  ExecutionContext,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import { Request } from 'express';
import { PrismaService } from './prisma.service';
import { sha256 } from './settings';

type KnownRequest = Request & { keyId: string };

@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly prisma: PrismaService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<KnownRequest>();
    const key = await this.prisma.apiKey.findUnique({
      where: { sha256: sha256(request.header('x-api-key') ?? '') },
    });
    if (!key) throw new UnauthorizedException('unknown key');
    request.keyId = key.id;
    return true;
  }
}

/** The key that the guard has found. */
export const KeyId = createParamDecorator(
  (_data, context: ExecutionContext) => context.switchToHttp().getRequest<KnownRequest>().keyId,
);
