import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsNotEmpty,
  IsNumber,
  IsPositive,
  IsString,
  Matches,
  Max,
  MaxLength,
  ValidateNested,
} from 'class-validator';

export class AirtimeItem {
  @IsString()
  @IsNotEmpty()
  @MaxLength(100)
  countryToSend!: string;

  @Matches(/^\+[1-9]\d{6,14}$/)
  phoneNumber!: string;

  @IsNumber({ maxDecimalPlaces: 6 })
  @IsPositive()
  @Max(999_999_999)
  valueInUSD!: number;
}

export class MobileMoneyItem extends AirtimeItem {
  @IsString()
  @MaxLength(255)
  reference!: string;

  @IsString()
  @IsNotEmpty()
  @MaxLength(50)
  momoCode!: string;
}

export class AirtimePayoutDto {
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(1_000)
  @ValidateNested({ each: true })
  @Type(() => AirtimeItem)
  airtimes!: AirtimeItem[];
}

export class MobileMoneyPayoutDto {
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(1_000)
  @ValidateNested({ each: true })
  @Type(() => MobileMoneyItem)
  momos!: MobileMoneyItem[];
}
