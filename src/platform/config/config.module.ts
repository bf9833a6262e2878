import { DynamicModule, Module } from '@nestjs/common';
import { ConfigModule, registerAs } from '@nestjs/config';
import { RunningConfig, SETTINGS_NAME } from './config';
import { SecretReloadService } from './secrets/secret-reload.service';

/** Provides the frozen configuration to the whole application. */
@Module({})
export class SettingsModule {
  static with(settings: RunningConfig): DynamicModule {
    return {
      module: SettingsModule,
      global: true,
      providers: [SecretReloadService],
      exports: [SecretReloadService],
      // config.ts has already read, checked and completed the environment.
      imports: [
        ConfigModule.forRoot({
          isGlobal: true,
          ignoreEnvFile: true,
          skipProcessEnv: true,
          load: [registerAs(SETTINGS_NAME, () => settings)],
        }),
      ],
    };
  }
}
