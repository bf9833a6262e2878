import { Module, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Loaded } from '../config/config.module';
import { Egress } from './egress';

@Module({
  providers: [
    {
      provide: Egress,
      inject: [ConfigService],
      useFactory: (config: ConfigService<Loaded, true>) => new Egress(config.get('settings', { infer: true })),
    },
  ],
  exports: [Egress],
})
export class EgressModule implements OnApplicationShutdown {
  constructor(private readonly egress: Egress) {}

  async onApplicationShutdown(): Promise<void> {
    await this.egress.close();
  }
}
