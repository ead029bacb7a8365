import { linkBaseOf } from '../../config/base-path.ts'
import type { Config } from '../../config/parse.ts'
import { OWN_PHOTOS } from '../../storage/own-photos.ts'

/** Whether a stored photo is one that the user has set: another one is the host's. */
export const isOwnPhoto = (avatar: string | null): avatar is string => avatar?.startsWith(OWN_PHOTOS) ?? false

/** Makes the URLs of photos as they are read. */
export type Photos = (avatar: string | null) => { avatar_url?: string }

/** The photos of a service: own ones have its address before their path, and there are none where they are off. */
export function photosOf(config: Config): Photos {
  const base = linkBaseOf(config)
  return (avatar) => {
    if (!avatar) return {}
    if (!isOwnPhoto(avatar)) return { avatar_url: avatar }
    return config.avatars.enabled ? { avatar_url: `${base}${avatar}` } : {}
  }
}
