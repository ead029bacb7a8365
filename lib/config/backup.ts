import * as v from 'valibot'
import { parseSchedule } from '../core/scheduling/schedule.ts'
import { flag, integer, reloadableKey as key, previousSecrets, section, someText, text } from './key.ts'
import { publicUrl } from './server.ts'

/** Where backups go: a bucket, with a folder in it, or a folder of this machine. */
const TARGET = /^(s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]+)*\/?|(?!\w+:\/\/).+)$/

/** As `age-keygen` prints it (https://age-encryption.org/v1). */
const RECIPIENT = /^age1[a-z0-9]{20,4000}$/

const passphrase = v.pipe(text, v.minLength(12, 'must have at least 12 characters'), v.maxLength(1024, 'is too long'))

/** Backups that the service makes by itself. */
export const BackupSection = section({
  schedule: key(
    v.pipe(
      text,
      v.check(
        (text) => parseSchedule(text) !== undefined,
        'must be five fields of cron, such as "30 3 * * *" (in UTC), or an interval such as 30m, 6h or 1d',
      ),
    ),
    undefined,
    'When to make a backup: five fields of cron in UTC ("30 3 * * *"), or an interval (6h, 1d). By default none is made.',
  ),
  keep: key(integer(1, 1000), 7, 'Number of backups to keep. Older ones are deleted after a newer one was verified.'),
  target: key(
    v.pipe(text, v.regex(TARGET, 'must be a folder, or s3://<bucket>/<prefix>')),
    undefined,
    'Where backups go: a folder, or s3://<bucket>/<prefix>. Required for a schedule.',
  ),
  files: key(
    flag,
    false,
    'Whether the files of messages are copied to backup.target, too, after each backup; encrypted if backups are.',
  ),
  passphrase: key(
    passphrase,
    undefined,
    'Encrypts backups with age, also those of "backup <file>", and decrypts them. Without it a backup is lost: keep it elsewhere, too.',
    { secret: true },
  ),
  previous_passphrases: key(
    previousSecrets(passphrase),
    [] as string[],
    'Former values of backup.passphrase, which still decrypt the backups made with them; none encrypts.',
    { secret: true },
  ),
  recipient: key(
    v.pipe(text, v.regex(RECIPIENT, 'must be a public key of age: age1…')),
    undefined,
    'Encrypts backups, also those of "backup <file>", for the owner of this public key of age; the service cannot read them.',
  ),
  s3: section({
    endpoint: key(publicUrl, undefined, 'URL of an S3-compatible service; default: Amazon S3 in the region.'),
    region: key(someText, 'us-east-1', 'Region of the bucket.'),
    access_key_id: key(someText, undefined, 'Default: the environment variable AWS_ACCESS_KEY_ID.'),
    secret_access_key: key(someText, undefined, 'Default: the environment variable AWS_SECRET_ACCESS_KEY.', {
      secret: true,
    }),
    path_style: key(flag, true, 'Whether the bucket is in the path of the URL; if false, it is in the host name.'),
  }),
})
