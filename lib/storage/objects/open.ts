import { createFolder } from './fs.ts'
import type { Objects } from './objects.ts'
import { createBucket, type S3Options } from './s3.ts'

/** The settings of a bucket besides its name. */
export type S3Settings = Partial<Omit<S3Options, 'bucket' | 'prefix'>> & { region: string }

/**
 * Opens a place for objects; nothing is read or written yet.
 *
 * @param target a folder, or `s3://<bucket>/<prefix>`
 * @param env the environment, which may have the keys of S3 under their usual names
 * @throws Error when the keys of S3 are missing
 */
export function openObjects(target: string, s3: S3Settings, env: NodeJS.ProcessEnv = process.env): Objects {
  const [, bucket, path = ''] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(target) ?? []
  if (bucket === undefined) return createFolder(target)
  const access_key_id = s3.access_key_id ?? env.AWS_ACCESS_KEY_ID
  const secret_access_key = s3.secret_access_key ?? env.AWS_SECRET_ACCESS_KEY
  if (!access_key_id || !secret_access_key)
    throw new Error(
      `${target} needs keys: set backup.s3.access_key_id and backup.s3.secret_access_key, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    )
  // A token belongs to the keys of the environment.
  const session_token = s3.access_key_id === undefined ? env.AWS_SESSION_TOKEN : undefined
  return createBucket({
    ...s3,
    bucket,
    prefix: path.replace(/\/$/, ''),
    access_key_id,
    secret_access_key,
    session_token,
  })
}
