//! Threads that serve connections. The first thread also accepts connections. Another thread is
//! started when a connection arrives and every thread is busy, up to the number of cores.
//!
//! A connection and its calls stay on one thread. A single client therefore uses a daemon with one
//! thread, and clients that work at the same time use several cores.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{io, thread};
use tokio::net::UnixStream;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// The time limit for a thread's work to end when the daemon shuts down.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The threads that serve connections.
pub(crate) struct ThreadPool {
    max_threads: usize,
    lanes: Mutex<Vec<PoolThread>>,
}

/// One thread and the number of its connections.
struct PoolThread {
    /// The number of connections that the thread serves.
    serves: Arc<AtomicUsize>,
    /// `None` for the thread that accepts connections.
    thread: Option<Thread>,
}

struct Thread {
    runtime: Handle,
    /// Stops the thread when dropped.
    _stop: oneshot::Sender<()>,
    ended: oneshot::Receiver<()>,
}

/// Counts a connection until it ends.
struct ConnectionGuard(Arc<AtomicUsize>);

impl ConnectionGuard {
    fn of(lane: &PoolThread) -> Self {
        lane.serves.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&lane.serves))
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ThreadPool {
    /// Creates a pool of up to `most` threads, the calling thread included.
    pub(crate) fn new(most: usize) -> Self {
        let first = PoolThread { serves: Arc::default(), thread: None };
        Self { max_threads: most.max(1), lanes: Mutex::new(vec![first]) }
    }

    /// Serves a connection on the thread with the fewest connections. `serve` creates the future
    /// and runs on that thread.
    pub(crate) fn serve_connection<F>(
        &self,
        stream: UnixStream,
        serve: impl FnOnce(UnixStream) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut lanes = self.lanes.lock();
        if lanes.len() < self.max_threads && lanes.iter().all(|lane| lane.serves.load(Ordering::Relaxed) > 0)
        {
            match Thread::start(lanes.len()) {
                Ok(thread) => lanes.push(PoolThread { serves: Arc::default(), thread: Some(thread) }),
                // The existing threads serve it.
                Err(e) => tracing::warn!("no thread for another connection: {e}"),
            }
        }
        let Some(lane) = lanes.iter().min_by_key(|lane| lane.serves.load(Ordering::Relaxed)) else { return };
        let guard = ConnectionGuard::of(lane);
        let Some(thread) = &lane.thread else {
            tokio::spawn(async move {
                let _guard = guard;
                serve(stream).await;
            });
            return;
        };
        let stream = stream.into_std();
        thread.runtime.spawn(async move {
            let _guard = guard;
            match stream.and_then(UnixStream::from_std) {
                Ok(stream) => serve(stream).await,
                Err(e) => tracing::warn!("a connection was lost: {e}"),
            }
        });
    }

    /// Ends all threads except the first, and the work that is still running on them.
    pub(crate) async fn end(&self) {
        let lanes = std::mem::take(&mut *self.lanes.lock());
        let ends: Vec<_> = lanes.into_iter().filter_map(|lane| Some(lane.thread?.ended)).collect();
        for ended in ends {
            // An error also means that the thread ended. A thread that hangs in a device must not
            // keep the process alive.
            let _ = tokio::time::timeout(END_TIMEOUT, ended).await;
        }
    }
}

impl Thread {
    /// Starts the thread named `lane {number}`.
    fn start(number: usize) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let ((stop, stopped), (end, ended)) = (oneshot::channel::<()>(), oneshot::channel());
        thread::Builder::new().name(format!("lane {number}")).spawn(move || {
            // The sender never sends: it only ends the wait by being dropped.
            let _ = runtime.block_on(stopped);
            runtime.shutdown_timeout(END_TIMEOUT);
            // After a timeout in `ThreadPool::end` there is no receiver.
            let _ = end.send(());
        })?;
        Ok(Self { runtime: handle, _stop: stop, ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::ThreadId;
    use tokio::io::AsyncReadExt;
    use tokio::sync::mpsc;

    /// Test connections and the threads that serve them.
    struct Clients {
        lanes: ThreadPool,
        tell: mpsc::UnboundedSender<ThreadId>,
        told: mpsc::UnboundedReceiver<ThreadId>,
    }

    impl Clients {
        fn new(most: usize) -> Self {
            let (tell, told) = mpsc::unbounded_channel();
            Self { lanes: ThreadPool::new(most), tell, told }
        }

        /// Opens a connection that lasts until it is dropped.
        async fn connect(&mut self) -> (UnixStream, ThreadId) {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let tell = self.tell.clone();
            self.lanes.serve_connection(theirs, move |mut stream| {
                let tell = tell.clone();
                async move {
                    tell.send(thread::current().id()).unwrap();
                    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
                    tell.send(thread::current().id()).unwrap();
                }
            });
            (ours, self.told.recv().await.unwrap())
        }
    }

    #[tokio::test]
    async fn concurrent_connections_spread_over_threads() {
        let mut clients = Clients::new(2);
        let here = thread::current().id();
        let (first, one) = clients.connect().await;
        let (_second, two) = clients.connect().await;
        assert!(one == here && two != here);
        let (_third, three) = clients.connect().await;
        let (_fourth, four) = clients.connect().await;
        assert_ne!(three, four, "each thread has two");
        drop(first);
        assert_eq!(clients.told.recv().await, Some(here), "it ended");
        let (_fifth, five) = clients.connect().await;
        assert_eq!(five, here, "the thread with the fewest");
        clients.lanes.end().await;
    }

    #[tokio::test]
    async fn sequential_connections_need_one_thread() {
        let mut clients = Clients::new(4);
        for _ in 0..3 {
            let (client, on) = clients.connect().await;
            assert_eq!(on, thread::current().id());
            drop(client);
            assert_eq!(clients.told.recv().await, Some(on));
        }
        assert_eq!(clients.lanes.lanes.lock().len(), 1);
    }

    #[tokio::test]
    async fn work_on_other_threads_ends_with_the_daemon() {
        let mut clients = Clients::new(2);
        let (_first, _) = clients.connect().await;
        let (mut second, _) = clients.connect().await;
        clients.lanes.end().await;
        assert_eq!(second.read(&mut [0]).await.unwrap(), 0, "its connection is closed");
    }
}
