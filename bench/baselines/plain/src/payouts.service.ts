import { Agent } from 'node:http';
import { Injectable } from '@nestjs/common';
import axios from 'axios';
import { Prisma } from './generated/client';
import { PrismaService } from './prisma.service';
import { setting } from './settings';

@Injectable()
export class PayoutsService {
  private readonly upstream = axios.create({
    baseURL: `${setting('UPSTREAM_URL')}/api/v0.1/payouts/`,
    headers: { 'X-API-Key': setting('UPSTREAM_API_KEY') },
    httpAgent: new Agent({ keepAlive: true }),
    timeout: 30_000,
    maxRedirects: 0,
    validateStatus: () => true, // The app gets the upstream's answer.
  });

  constructor(private readonly prisma: PrismaService) {}

  /** Records the request before it is sent, and again when it is answered. */
  async pay(keyId: string, operation: string, body: object) {
    const { id } = await this.prisma.payoutRecord.create({
      data: { keyId, operation, body },
    });
    const { status, data } = await this.upstream.post<Prisma.InputJsonValue>(operation, body);
    await this.prisma.payoutRecord.update({
      where: { id },
      data: { status, answer: data, answeredAt: new Date() },
    });
    return { status, data };
  }
}
