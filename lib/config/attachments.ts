import { dirname, join } from 'node:path'
import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import { flag, integer, key, oneOf, section, text } from './key.ts'

/** Where the bytes go: a folder, or a bucket, with options of its service in the query. */
const STORAGE = /^(fs:\S.*|s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]+)*\/?(\?\S*)?)$/

const MEDIA_TYPE = /^[a-z]+\/[a-z0-9.+-]+$/

/** The largest file that can be configured: 100 GiB. */
const MAX_FILE_BYTES = 100 * 1024 ** 3

/** Whether the service stores bytes of files: of messages, or photos of users. */
export const storesFiles = ({ attachments, avatars }: Pick<Config, 'attachments' | 'avatars'>): boolean =>
  attachments.enabled === true || avatars.enabled

/** Files in messages. */
export const AttachmentsSection = section({
  enabled: key(
    flag,
    undefined,
    'Whether messages can have files. The command line turns it on unless this is false; a host that wants it sets true. Without it, the routes of files are 404.',
  ),
  storage: key(
    v.pipe(text, v.regex(STORAGE, 'must be fs:<folder> or s3://<bucket>/<prefix>')),
    undefined,
    'Where the bytes of files are. Default: the folder files beside a SQLite file, else fs:./data/files. Or another fs:<folder>, or s3://<bucket>/<prefix>?endpoint=…&region=…&path_style=false: without an endpoint Amazon S3, without a region AWS_REGION or us-east-1, and with path_style=false the bucket is in the host name. The keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment, with AWS_SESSION_TOKEN for temporary ones; those of backup.s3 and files of secrets are not used.',
  ),
  max_bytes: key(integer(1, MAX_FILE_BYTES), 104_857_600, 'Maximum size of a file.', { unit: 'bytes' }),
  types: key(
    v.array(v.pipe(text, v.regex(MEDIA_TYPE, 'must be a media type, such as image/png'))),
    [] as string[],
    'Media types that are allowed, as the service recognises them from the first bytes; what it does not recognise is application/octet-stream. Empty: all.',
  ),
  per_user_bytes: key(
    integer(0, Number.MAX_SAFE_INTEGER),
    1024 ** 3,
    'Maximum size of all files of a user together, with deleted ones until their bytes are gone; 0 sets no limit.',
    { unit: 'bytes' },
  ),
  total_bytes: key(
    integer(0, Number.MAX_SAFE_INTEGER),
    0,
    'Maximum size of all files together; beyond it uploads are refused as on a full disk; 0 sets no limit.',
    { unit: 'bytes' },
  ),
  reserve_bytes: key(
    integer(0, Number.MAX_SAFE_INTEGER),
    undefined,
    'What uploads leave free on the disk of a folder of files: below it they are 507, while posts go on. Default: 512 MiB, or 5 % of the disk if that is less. 0 reserves nothing.',
    { unit: 'bytes' },
  ),
  strip_metadata: key(flag, true, 'Remove place, device and other EXIF data of JPEG pictures.'),
  deleted_days: key(
    integer(0, 36_500),
    30,
    'How long the files of a deleted message are kept, so that it can be restored with them.',
    { unit: 'days' },
  ),
  grace_hours: key(
    integer(0, 10_000),
    24,
    'How long the bytes of a file that nothing refers to any more are kept: a backup of the database and then of the files is complete if it takes less.',
    { unit: 'hours' },
  ),
  max_buffered_bytes: key(
    integer(4 * 1024 * 1024, Number.MAX_SAFE_INTEGER),
    64 * 1024 * 1024,
    'What a process holds in memory of the files that are being uploaded and read: beyond it uploads wait, and readers get pieces of 64 KiB.',
    { unit: 'bytes' },
  ),
  max_reads_per_user: key(
    integer(1, 100_000),
    16,
    'Maximum number of files, and of thumbnails, that a user reads at once from a process; further ones wait for up to 30 seconds, and then are 429.',
  ),
  link_seconds: key(integer(1, 86_400), 300, 'How long a link to a file is valid.', { unit: 'seconds' }),
  thumbnail_pixels: key(
    integer(1, 1_000_000_000),
    50_000_000,
    'Pictures with more pixels get no thumbnail: to decode one takes memory for all of them.',
  ),
  scan: key(
    oneOf('before', 'after'),
    'before',
    'With a scanner: before, a file can be attached once it was found clean; after, it can be attached at once, and read once it was found clean.',
  ),
  scan_failure: key(
    oneOf('refuse', 'accept'),
    'refuse',
    'What becomes of a file that the scanner could not check in three attempts.',
  ),
})

/** Where the bytes of files are, unless the storage of the host has them. */
export function filesPlace({ attachments, database }: Config): string {
  if (attachments.storage !== undefined) return attachments.storage
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(database.url)?.[1]
  return file === undefined ? 'fs:./data/files' : `fs:${join(dirname(file), 'files')}`
}
