import type { User } from 'chat-server/client'
import { useRef, useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { photoTexts } from '../texts/settings.ts'

const CropDialog = lazy(() => import('./crop-dialog.tsx').then(({ CropDialog }) => CropDialog))

/** What a browser decodes without a long wait; the largest cameras make smaller pictures. */
const MAX_PIXELS = 150_000_000

/** Where the service has the photos that users set. */
const OWN = '/api/avatars/'

/** Changes and removes the photo of the user, where the service lets users set one. */
export function OwnPhoto({ user }: { user: User }) {
  const { client, session, features } = useApp()
  const field = useRef<HTMLInputElement>(null)
  const [picture, setPicture] = useState<HTMLImageElement>()
  const [isRefused, setRefused] = useState(false)
  const remove = useAction(async () => {
    await client.auth.removeAvatar()
    session.update({ ...user, avatar_url: undefined })
  })
  const words = photoTexts.value
  const { avatar_url } = user
  if (!features.avatars || user.kind === 'guest' || user.roles.every((role) => role === 'read_only')) return null
  if (avatar_url && !avatar_url.includes(OWN)) return <p class="quiet">{words.of_host}</p>

  async function choose(file: File | undefined): Promise<void> {
    if (!file) return
    remove.clear()
    const read = await readPicture(file)
    setRefused(!read)
    setPicture(read)
  }

  return (
    <div class="own-photo">
      <button type="button" onClick={() => field.current?.click()}>
        <Icon name="edit" />
        {avatar_url ? words.change : words.add}
      </button>
      <input
        ref={field}
        type="file"
        accept="image/*"
        hidden
        onChange={({ currentTarget }) => {
          void choose(currentTarget.files?.[0])
          // The same file may be chosen again.
          currentTarget.value = ''
        }}
      />
      {avatar_url && (
        <button type="button" disabled={remove.isRunning} onClick={() => void remove.run()}>
          {words.remove}
        </button>
      )}
      {isRefused && (
        <p class="error" role="alert">
          {words.refused}
        </p>
      )}
      <ErrorNote error={remove.error} />
      {picture && (
        <CropDialog
          picture={picture}
          max_bytes={features.avatars.max_bytes}
          onPhoto={async (photo) => {
            const set = await client.auth.setAvatar(photo)
            session.update({ ...user, ...set })
          }}
          onClose={() => setPicture(undefined)}
        />
      )}
    </div>
  )
}

/** The picture of a file; `undefined` if the browser shows none, or it is too large. */
async function readPicture(file: File): Promise<HTMLImageElement | undefined> {
  const address = URL.createObjectURL(file)
  try {
    const picture = new Image()
    await new Promise((resolve, reject) => {
      picture.onload = resolve
      picture.onerror = reject
      picture.src = address
    })
    const pixels = picture.naturalWidth * picture.naturalHeight
    if (pixels === 0 || pixels > MAX_PIXELS) return undefined
    await picture.decode()
    return picture
  } catch {
    // It is broken, or of a kind that the browser does not know.
    return undefined
  } finally {
    URL.revokeObjectURL(address)
  }
}
