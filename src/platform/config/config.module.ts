import { DynamicModule, Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { RunningConfig } from './config';

/** What the application's ConfigService holds. `config.get('settings', { infer: true })` returns all of it, typed. */
export interface Loaded {
  settings: RunningConfig;
}

/** Gives the whole application its one frozen configuration. */
@Module({})
export class SettingsModule {
  static with(settings: RunningConfig): DynamicModule {
    return {
      module: SettingsModule,
      // The environment was read, checked and completed before (config.ts); here it is only handed on.
      imports: [
        ConfigModule.forRoot({
          isGlobal: true,
          ignoreEnvFile: true,
          skipProcessEnv: true,
          load: [() => ({ settings })],
        }),
      ],
    };
  }
}
