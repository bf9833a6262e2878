import { Module, OnApplicationShutdown } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../config/config';
import { Egress } from './egress';

@Module({
  providers: [
    {
      provide: Egress,
      inject: [SETTINGS],
      useFactory: (settings: RunningConfig) => new Egress(settings),
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
