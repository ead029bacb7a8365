import * as v from 'valibot'

/** The photo that a user has set. */
export const PhotoAnswer = v.object({
  avatar_url: v.pipe(v.string(), v.description('Absolute with `server.public_url`, else a path')),
})
export type PhotoAnswer = v.InferOutput<typeof PhotoAnswer>
