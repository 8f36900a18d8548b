// A small disk of its own: an ext4 file system in a sparse file, mounted over a loop device. It can be filled, and its
// power can be cut: ext4's shutdown ioctl drops everything that was written and not synced, at once and for every
// process, without a word to the machine. Needs root and loop devices.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from './wait.ts'

/**
 * EXT4_IOC_SHUTDOWN with the flag "do not flush the log". Node has no ioctl, and Perl is on every Linux. Prints when
 * it began, on the clock of `machineMs`: the call takes some milliseconds, in which a sync may succeed in vain.
 */
const shutdownProgram = `
  use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
  open(my $folder, "<", $ARGV[0]) or die "open: $!";
  my $flags = pack("L", 2);
  my $began = clock_gettime(CLOCK_MONOTONIC);
  ioctl($folder, 0x8004587D, $flags) or die "ioctl: $!";
  printf("%.6f", $began * 1000);
`

/** Less than this need not be filled: one block. */
const fillBytesMin = 4096
const unmountMsMax = 20_000
/** CAP_SYS_ADMIN. */
const mountCapability = 1n << 21n

/** Why this machine cannot mount a disk image, or null when it can. */
export function diskImageProblem(): string | null {
  if (process.platform !== 'linux') return 'disk images are mounted on Linux only'
  const capabilities = /CapEff:\s+([0-9a-f]+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  if ((BigInt(`0x${capabilities}`) & mountCapability) === 0n) return 'mounting a disk image needs root'
  if (!existsSync('/dev/loop-control')) return 'this machine has no loop devices'
  const programs = ['mkfs.ext4', 'mount', 'umount', 'fallocate', 'perl']
  const missing = programs.find((program) => spawnSync(program, ['-V']).error !== undefined)
  return missing === undefined ? null : `${missing} is not installed`
}

export class DiskImage {
  /** Where the disk is mounted. */
  readonly path: string
  readonly #image: string
  #isMounted = false

  private constructor(folder: string) {
    this.path = join(folder, 'disk')
    this.#image = join(folder, 'disk.img')
  }

  /** Makes and mounts a disk of `size` bytes. Only where `diskImageProblem` finds none. */
  static create(folder: string, size: number): DiskImage {
    const disk = new DiskImage(folder)
    writeFileSync(disk.#image, '')
    truncateSync(disk.#image, size)
    execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', disk.#image])
    mkdirSync(disk.path)
    disk.mount()
    return disk
  }

  mount(): void {
    execFileSync('mount', ['-o', 'loop', this.#image, this.path], { stdio: 'pipe' })
    this.#isMounted = true
  }

  /** Unmounts the disk once no process holds a file of it. */
  async unmount(): Promise<void> {
    if (!this.#isMounted) return
    await waitFor('the disk is unmounted', unmountMsMax, () =>
      spawnSync('umount', [this.path]).status === 0 ? true : null,
    )
    this.#isMounted = false
  }

  /** Cuts the power, and returns when that began (machineMs). The disk stays dead until it is mounted again. */
  cutPower(): number {
    return Number(execFileSync('perl', ['-e', shutdownProgram, this.path], { encoding: 'utf8' }))
  }

  freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path)
    return bavail * bsize
  }

  /** Fills the disk until about `leave` bytes are free. */
  fill(leave: number): void {
    const folder = join(this.path, 'filler')
    mkdirSync(folder)
    // The file system needs some of what it calls free for itself: what does not fit is tried by halves.
    for (let size = this.freeBytes() - leave; size >= fillBytesMin; ) {
      const path = join(folder, String(size))
      const isFilled = spawnSync('fallocate', ['-l', String(size), path]).status === 0
      size = Math.min(this.freeBytes() - leave, isFilled ? Number.POSITIVE_INFINITY : Math.floor(size / 2))
    }
  }

  /** Frees what `fill` took. */
  empty(): void {
    rmSync(join(this.path, 'filler'), { recursive: true })
  }
}
