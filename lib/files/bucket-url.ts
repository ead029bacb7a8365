import { parseUrl } from '../core/url.ts'
import type { S3Options } from '../storage/objects/s3-client.ts'

/** A part has seconds, not minutes: its sender waits, and can send it again. */
const CHECK_LIMITS = { timeout_ms: 10_000, attempts: 2, slowest: 256 }

const NAMES = {
  region: 'region in attachments.storage',
  access_key_id: 'AWS_ACCESS_KEY_ID',
  secret_access_key: 'AWS_SECRET_ACCESS_KEY',
}

const SETTINGS = ['endpoint', 'region', 'path_style']

/**
 * The bucket that an address names: `s3://<bucket>/<prefix>?endpoint=…&region=…&path_style=false`.
 *
 * @throws Error for an address of another form, one with keys in it, and when the environment has no keys
 */
export function toBucket(address: string, env: NodeJS.ProcessEnv): S3Options {
  const url = parseUrl(address)
  if (!url?.hostname || url.username || url.password || url.hash)
    throw new Error('The store of files is not of the form s3://<bucket>/<prefix>?endpoint=…&region=…')
  for (const name of url.searchParams.keys())
    if (!SETTINGS.includes(name)) throw new Error(`s3://${url.hostname} has ${SETTINGS.join(', ')}, and no ${name}`)
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
    throw new Error(`s3://${url.hostname} needs keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`)
  return {
    bucket: url.hostname,
    prefix: decodeURIComponent(url.pathname).replace(/^\/|\/$/g, ''),
    endpoint: url.searchParams.get('endpoint') ?? undefined,
    region: url.searchParams.get('region') ?? env.AWS_REGION ?? 'us-east-1',
    path_style: url.searchParams.get('path_style') !== 'false',
    access_key_id: AWS_ACCESS_KEY_ID,
    secret_access_key: AWS_SECRET_ACCESS_KEY,
    session_token: AWS_SESSION_TOKEN,
    names: NAMES,
    ...CHECK_LIMITS,
  }
}
