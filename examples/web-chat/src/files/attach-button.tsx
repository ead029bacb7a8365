import { useRef } from 'preact/hooks'
import { IconButton } from '../parts/icon-button.tsx'
import { texts } from '../texts/texts.ts'

/** Chooses files of this device. */
export function AttachButton({ onFiles }: { onFiles: (files: Iterable<File>) => void }) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <IconButton icon="clip" label={texts.value.files.attach} onClick={() => field.current?.click()} />
      <input
        ref={field}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          onFiles(currentTarget.files ?? [])
          // The same file may be chosen again, after it was removed.
          currentTarget.value = ''
        }}
      />
    </>
  )
}
