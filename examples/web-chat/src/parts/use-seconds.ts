import { useEffect, useState } from 'preact/hooks'

/** How many seconds are left until a time, in milliseconds; a component that calls it is rendered with each second. */
export function useSeconds(until: number): number {
  const [now, setNow] = useState(Date.now)
  const left = Math.max(0, Math.ceil((until - now) / 1_000))
  const isOver = left === 0
  useEffect(() => {
    setNow(Date.now())
    if (isOver) return
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [until, isOver])
  return left
}
